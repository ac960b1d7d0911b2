import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { personClient, setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

describe('passkeys where the base URL has an IP address', () => {
  let service: Service
  before(async () => {
    const port = String(await freePort())
    const settings = { TERSE_PORT: port, TERSE_BASE_URL: `http://127.0.0.1:${port}` }
    service = await startService(SQLITE, settings)
  })
  after(() => service.stop())

  test('are refused with the reason, before the browser refuses them without one', async () => {
    const ada = await setUp(service)
    for (const answer of [
      await ada.post('/me/passkeys/options'),
      await personClient(service).post('/session/passkey-options'),
    ]) {
      const { body } = expectProblem(answer, 'validation_failed', ['passkey'])
      assert.match(body.message, /IP address, and TERSE_BASE_URL has one/)
    }
  })
})
