import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { CLIENT_QUEUE, Clients } from '../../src/assistants/clients.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { Failure } from '../../src/platform/failure.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { WorkQueues } from '../../src/platform/work/fair-queue.ts'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { createTestAuthority } from '../support/test-authority.ts'

const usual = getCACertificates()

/** Programs are known by a document at their address. */
describe('documents of programs', () => {
  let service: Service
  let server: Server
  let id: string
  let answer: { status: number; body: unknown }
  before(async () => {
    const authority = createTestAuthority()
    const { chainPem, keyPem } = authority.issue('localhost')
    setDefaultCACertificates([...usual, authority.certificatePem])
    server = createServer({ cert: chainPem, key: keyPem }, (_request, response) => {
      response.writeHead(answer.status, { location: '/other.json' })
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    id = `https://localhost:${(server.address() as AddressInfo).port}/client.json`
    service = await startService(SQLITE)
  })
  after(async () => {
    setDefaultCACertificates(usual)
    server.close()
    await service.stop()
  })

  const clientsWith = (mayReach: boolean) =>
    new Clients({
      store: service.instance.store,
      clock: systemClock(),
      random: systemRandom,
      mayReach: () => mayReach,
      reads: new WorkQueues().open(CLIENT_QUEUE),
      baseUrl: service.baseUrl,
    })
  const document = (changes: object = {}) => ({
    client_id: id,
    client_name: 'Orbit\u202e Desktop\n',
    redirect_uris: ['http://127.0.0.1/callback'],
    ...changes,
  })
  const faultOf = async (clientId: string, mayReach = true) => {
    const error = await clientsWith(mayReach)
      .find(clientId, 'owner')
      .catch((reason) => reason)
    assert.ok(error instanceof Failure)
    const [fault] = error.fields?.client_id ?? []
    return fault && 'reason' in fault ? fault.reason : fault?.code
  }

  test('say what the program is called, without characters that turn the text around', async () => {
    answer = { status: 200, body: document() }
    const client = await clientsWith(true).find(id, 'owner')
    assert.deepEqual(client, {
      id,
      name: 'Orbit Desktop',
      redirectUris: ['http://127.0.0.1/callback'],
    })
  })

  test('are not read from a private network', async () => {
    answer = { status: 200, body: document() }
    assert.equal(await faultOf(id, false), 'address')
  })

  for (const [what, changes, reason] of [
    ['that names another identifier', { client_id: 'https://other.example/' }, 'invalid'],
    ['without addresses', { redirect_uris: [] }, 'invalid'],
    ['with an address of a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid'],
    ['with a secret', { token_endpoint_auth_method: 'private_key_jwt' }, 'secret'],
  ] as const) {
    test(`are refused ${what}`, async () => {
      answer = { status: 200, body: document(changes) }
      assert.equal(await faultOf(id), reason)
    })
  }

  test('are refused that are a redirect, or no JSON', async () => {
    answer = { status: 302, body: document() }
    assert.equal(await faultOf(id), 'unreachable')
    answer = { status: 200, body: '<html>' }
    assert.equal(await faultOf(id), 'invalid')
  })

  for (const address of ['http://localhost/client.json', 'https://localhost', 'orbit', '']) {
    test(`have no address like ${JSON.stringify(address)}`, async () => {
      assert.equal(await faultOf(address), 'unknown_client')
    })
  }
})
