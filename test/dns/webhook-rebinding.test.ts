import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { type DnsResponder, startDnsResponder } from '../support/dns-responder.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { makeToken } from '../support/make-instance.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const LOOKUP = new URL('../support/lookup-at-dns-server.ts', import.meta.url).href
const NAME = 'hooks.acme.test'
/** The settings allow this one and the next, as if they were public. */
const PUBLIC = '127.0.0.2'
/** Nothing listens there. */
const PUBLIC_DOWN = '127.0.0.3'
const PRIVATE = '127.0.0.1'

describe('webhooks at a name whose addresses change', {
  skip: process.platform !== 'linux',
}, () => {
  let dns: DnsResponder
  let receiver: WebhookReceiver
  let place: Place
  let node: ServiceProcess
  let api: Api
  /** What the next lookups of the name return; the last one repeats. */
  let lookups: string[][] = []
  let connectionsInside = 0
  const inside = createServer((socket) => {
    connectionsInside += 1
    socket.destroy()
  })

  before(async () => {
    dns = await startDnsResponder(({ name, type }) => {
      if (type !== 'A' || name !== NAME) return { answers: [] }
      const [addresses = []] = lookups.length > 1 ? lookups.splice(0, 1) : lookups
      return { answers: addresses.map((data) => ({ type: 'A' as const, name, ttl: 0, data })) }
    })
    const port = await freePort()
    inside.listen(port, PRIVATE)
    await once(inside, 'listening')
    receiver = await startReceiver({ host: PUBLIC, port })
    // Without open connections, each call looks the name up.
    receiver.answer = () => ({ status: 204, headers: { connection: 'close' } })
    place = await SQLITE.createMigratedPlace()
    const token = await makeToken(place.env)
    node = await startProcess(place, {
      TERSE_WEBHOOK_ALLOW: `${PUBLIC},${PUBLIC_DOWN}`,
      NODE_OPTIONS: `--import=${LOOKUP}`,
      LOOKUP_SERVER: dns.address,
    })
    api = apiClient(`http://127.0.0.1:${node.port}`, token)
  })
  after(async () => {
    await node.stop()
    await place.remove()
    await receiver.close()
    inside.close()
    await dns.stop()
  })
  beforeEach(() => {
    receiver.calls.length = 0
    connectionsInside = 0
  })

  const questions = () => dns.asked.filter(({ name, type }) => name === NAME && type === 'A').length
  async function create(): Promise<string> {
    const { port } = new URL(receiver.url)
    const webhook = { url: `http://${NAME}:${port}/hook`, events: ['link.created'] }
    return expectStatus(await api.post('/webhooks', webhook), 201).body.id
  }
  const remove = async (id: string) => expectStatus(await api.delete(`/webhooks/${id}`), 200)
  const sendTest = async (id: string) => {
    const { body } = expectStatus(await api.post(`/webhooks/${id}/test`, undefined), 200)
    return [body.status, body.fault]
  }

  test('look nothing up when an endpoint is added', async () => {
    lookups = [[PRIVATE]]
    const before = questions()
    const id = await create()
    await remove(id)
    assert.deepEqual([questions() - before, connectionsInside], [0, 0])
  })

  test('connect tests to the address that was checked, and to none that is private', async () => {
    const id = await create()
    lookups = [[PUBLIC], [PRIVATE]]
    assert.deepEqual(await sendTest(id), [204, null])
    assert.deepEqual(await sendTest(id), [null, 'refused_address'])
    assert.deepEqual([receiver.calls.length, connectionsInside], [1, 0])
    await remove(id)
  })

  test('connect deliveries to the address that was checked, and to none that is private', async () => {
    const id = await create()
    lookups = [[PUBLIC], [PRIVATE]]
    const link = { domain: 'localhost', url: 'https://example.com/' }
    expectStatus(await api.post('/links', link), 201)
    await receiver.until(1)
    expectStatus(await api.post('/links', link), 201)
    await eventually(async () => {
      const { data } = expectStatus(await api.get(`/webhooks/${id}/attempts`), 200).body
      const faults = data.map(({ fault }: { fault: string | null }) => fault)
      assert.deepEqual(faults, ['refused_address', null])
    })
    assert.deepEqual([receiver.calls.length, connectionsInside], [1, 0])
    await remove(id)
  })

  test('use the public one of several addresses, and no private one when it is down', async () => {
    const id = await create()
    lookups = [
      [PRIVATE, PUBLIC],
      [PUBLIC_DOWN, PRIVATE],
    ]
    assert.deepEqual(await sendTest(id), [204, null])
    assert.deepEqual(await sendTest(id), [null, 'unreachable'])
    assert.equal(connectionsInside, 0)
    await remove(id)
  })
})
