import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { deferredListener } from '../../src/platform/http/front-server.ts'

test('deferredListener queues requests until the listener is set, and passes them on in order', async (t) => {
  const { listener, open } = deferredListener()
  const server = createServer(listener)
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const send = (name: string) =>
    fetch(`http://127.0.0.1:${port}/${name}`, { method: 'POST', body: name }).then((answer) =>
      answer.text(),
    )

  const waiting: Promise<string>[] = []
  for (const name of ['first', 'second']) {
    waiting.push(send(name))
    await once(server, 'request')
  }
  const order: string[] = []
  open(async (request, response) => {
    order.push(request.url ?? '')
    const body = (await request.toArray()).join('')
    response.end(`${body} answered`)
  })
  assert.deepEqual(await Promise.all(waiting), ['first answered', 'second answered'])
  assert.equal(await send('third'), 'third answered')
  assert.deepEqual(order, ['/first', '/second', '/third'])
})
