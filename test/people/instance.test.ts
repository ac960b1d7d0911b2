import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { writeLastCheck } from '../../src/storage/file-fault.ts'
import { expectStatus, untilServed } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { PASSWORD, type PersonClient, personClient, setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const PATHS = ['/instance', '/instance/diagnosis']

for (const engine of ENGINES) {
  describe(`the state of the instance on ${engine.title}`, () => {
    let service: Service
    let operator: PersonClient
    before(async () => {
      service = await startService(engine, { TERSE_FILE_CHECK_HOURS: '0' })
      await service.token('acme')
      operator = await setUp(service)
    })
    after(() => service.stop())

    test('shows an operator version, roles, nodes, clicks and certificates', async () => {
      await service.instance.nodes.beat({
        id: 'other',
        name: 'machine-2',
        process: 1,
        version: '1.0.0',
        started_at: 0,
        backlog_bytes: 128,
        oldest_click_at: null,
        untrusted_proxy: '172.18.0.5',
      })
      const { body } = expectStatus(await operator.get('/instance'), 200)
      assert.match(body.version, /^\d+\.\d+\.\d+/)
      assert.equal(body.database, service.instance.engine)
      assert.deepEqual(body.roles, { redirect: 'ok', api: 'ok', jobs: 'ok' })
      assert.equal(body.data_folder_fault, null)
      assert.equal(body.certificates, null, 'a proxy handles HTTPS')
      const node = body.nodes.find(({ id }: { id: string }) => id === 'other')
      assert.equal(node.state, 'up')
      assert.equal(node.backlog_bytes, 128)
      assert.equal(node.untrusted_proxy, '172.18.0.5')
      assert.equal(node.started_at, '1970-01-01T00:00:00.000000Z')
      assert.equal('beat_at' in node, false)
    })

    test('shows an operator what the doctor reports, with the last check of the files', async () => {
      const fault = { kind: 'damaged', file: 'terse.db', text: 'a page is damaged' } as const
      const { TERSE_DATA_DIR: folder = '' } = service.place.env
      writeLastCheck(folder, { startedMs: 0, endedMs: 0, isFull: true, faults: [fault] })
      const diagnosis = () => untilServed(() => operator.get('/instance/diagnosis'))
      const { body } = expectStatus(await diagnosis(), 200)
      const states = new Map<string, string>(
        body.findings.map((one: { subject: string; state: string }) => [one.subject, one.state]),
      )
      assert.equal(states.get('database'), 'ok')
      assert.equal(states.get('schema'), 'ok')
      assert.equal(states.get('proxy'), 'warning')
      assert.equal(states.get('files'), engine.name === 'SQLite' ? 'problem' : undefined)
      for (const { advice } of body.findings) assert.notEqual(advice, undefined)
      const again = expectStatus(await operator.get('/instance/diagnosis'), 200)
      assert.equal(again.body.checked_at, body.checked_at, 'shared for some seconds')
    })

    test('is hidden from people who do not operate the instance, from tokens and strangers', async () => {
      operator.workspaceId = (await service.instance.workspaces.get('acme')).id
      const invited = await operator.post('/invitations', {
        email: 'grace@example.com',
        role: 'admin',
      })
      const code = new URL(invited.body.url).hash.replace('#code=', '')
      const admin = personClient(service)
      const account = { code, name: 'Grace', password: PASSWORD }
      expectStatus(await admin.post('/invitations/accept', account), 201)
      const token = await service.api('acme')
      for (const path of PATHS) {
        expectProblem(await admin.get(path), 'missing_role')
        expectProblem(await token.get(path), 'missing_role')
        expectProblem(await personClient(service).get(path), 'unauthorized')
      }
    })
  })
}
