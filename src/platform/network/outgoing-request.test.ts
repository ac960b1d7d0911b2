import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type SourceApi, startSourceApi } from '../../../test/support/source-api.ts'
import { RefusedAddressError } from '../dns/checked-lookup.ts'
import { Networks } from './ip-address.ts'
import { AnswerTooLongError, closeAgents, guardedAgents, sendRequest } from './outgoing-request.ts'

const REQUEST = {
  method: 'GET',
  headers: {},
  timeoutMs: 30_000,
  bodyBytesMax: 1_000,
  signal: new AbortController().signal,
} as const

describe('sendRequest', () => {
  let server: SourceApi
  const open = guardedAgents(() => true)
  const loopback = new Networks()
  for (const network of ['127.0.0.0/8', '::1']) loopback.add(network)
  const closed = guardedAgents((address) => !loopback.has(address))

  before(async () => {
    server = await startSourceApi(({ headers }) => ({ json: { host: headers.host } }))
  })
  after(async () => {
    closeAgents(open)
    closeAgents(closed)
    await server.close()
  })

  test('returns status, headers and body', async () => {
    const answer = await sendRequest(open, { ...REQUEST, url: new URL(server.url) })
    assert.equal(answer.status, 200)
    assert.equal(answer.body.toString(), `{"host":"${new URL(server.url).host}"}`)
  })

  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]', '[::1]']) {
    test(`connects to no address that the guard refuses: ${host}`, async () => {
      const url = new URL(server.url)
      url.hostname = host
      const requests = server.requests.length
      await assert.rejects(sendRequest(closed, { ...REQUEST, url }), RefusedAddressError)
      assert.equal(server.requests.length, requests)
    })
  }

  test('connects to another place and keeps the host in the request', async () => {
    const url = new URL('http://go.example.com/abc')
    const connectTo = { host: '127.0.0.1', port: Number(new URL(server.url).port) }
    const answer = await sendRequest(open, { ...REQUEST, url, connectTo })
    assert.equal(answer.body.toString(), '{"host":"go.example.com"}')
    await assert.rejects(sendRequest(closed, { ...REQUEST, url, connectTo }), RefusedAddressError)
  })

  test('sends a repeatable request again when a kept connection is closed', async (t) => {
    const seen = new Set<unknown>()
    let requests = 0
    const closing = createServer(({ socket }, response) => {
      requests += 1
      if (seen.has(socket)) socket.destroy()
      else response.end()
      seen.add(socket)
    })
    closing.listen(0, '127.0.0.1')
    await once(closing, 'listening')
    t.after(() => closing.close())
    const url = new URL(`http://127.0.0.1:${(closing.address() as AddressInfo).port}/`)
    const post = { ...REQUEST, method: 'POST', body: 'x', url } as const
    await sendRequest(open, post)
    assert.equal((await sendRequest(open, { ...post, isRepeatable: true })).status, 200)
    await assert.rejects(sendRequest(open, post), { code: 'ECONNRESET' })
    assert.equal(requests, 4)
  })

  test('refuses an answer that is longer than the caller takes', async () => {
    server.faults.push({ text: 'x'.repeat(2_000) })
    const sent = sendRequest(open, { ...REQUEST, url: new URL(server.url) })
    await assert.rejects(sent, AnswerTooLongError)
  })

  test('returns the status of an answer whose body is not read', async () => {
    server.faults.push({ status: 200, text: 'x'.repeat(1_000_000) })
    const url = new URL(server.url)
    const answer = await sendRequest(open, { ...REQUEST, url, bodyBytesMax: 0 })
    assert.deepEqual([answer.status, answer.body.length], [200, 0])
  })

  test('follows no redirect', async () => {
    server.faults.push({ status: 302, text: '', headers: { location: `${server.url}/next` } })
    const answer = await sendRequest(open, { ...REQUEST, url: new URL(server.url) })
    assert.equal(answer.status, 302)
  })
})
