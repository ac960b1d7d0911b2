import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { PASSWORD, personClient } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const HOUR = 60 * 60

for (const engine of ENGINES) {
  describe(`set-up on ${engine.title}`, () => {
    const clock = fakeClock()
    let service: Service
    before(async () => {
      service = await startService(engine, {}, { clock })
      await service.token('acme')
      await service.token('beta')
    })
    after(() => service.stop())

    const newCode = () => service.instance.setupLinks.create('test')
    const complete = (code: string, email: string, password = PASSWORD) =>
      personClient(service).post('/setup', { code, email, name: 'Ada', password })
    const options = async () => (await personClient(service).get('/sign-in-options')).body

    // In this order: the last of them sets the instance up.
    test('is required at first, and open only to those who have a code', async () => {
      assert.deepEqual(await options(), {
        setup_required: true,
        oidc: null,
        mail: false,
        base_url: `http://localhost:${service.port}`,
      })
      const answer = await complete('A'.repeat(43), 'eve@example.com')
      expectProblem(answer, 'validation_failed', ['code'])
    })

    test('refuses a code after a day', async () => {
      const code = await newCode()
      clock.move(24 * HOUR)
      expectProblem(await complete(code, 'ada@example.com'), 'validation_failed', ['code'])
    })

    test('refuses what it would refuse later, and keeps the code', async () => {
      const code = await newCode()
      expectProblem(await complete(code, 'ada@example.com', 'short'), 'validation_failed', [
        'password',
      ])
      expectProblem(await complete(code, 'no address'), 'validation_failed', ['email'])
      assert.equal((await options()).setup_required, true)
    })

    test('makes one first person of two at once, who owns every workspace', async () => {
      const codes = [await newCode(), await newCode()]
      const shared = codes[0] ?? ''
      const answers = await Promise.all([
        ...codes.map((code, index) => complete(code, `person-${index}@example.com`)),
        complete(shared, 'person-2@example.com'),
      ])
      const statuses = answers.map(({ status }) => status)
      assert.deepEqual(statuses.toSorted(), [201, 422, 422])
      for (const answer of answers) {
        if (answer.status === 422) expectProblem(answer, 'validation_failed', ['code'])
      }
      const { people, memberships } = service.instance.store.read
      const found = await Promise.all(
        [0, 1, 2].map((number) => people.findByEmail(`person-${number}@example.com`)),
      )
      const [first, ...others] = found.filter((person) => person !== undefined)
      assert.deepEqual(others, [])
      assert.equal(first?.is_operator, true)
      const joined = await memberships.listOfPerson(first.id)
      assert.deepEqual(
        joined.map(({ workspace_name, role }) => [workspace_name, role]),
        [
          ['acme', 'owner'],
          ['beta', 'owner'],
        ],
      )
      assert.equal((await options()).setup_required, false)
    })

    test('is refused from then on, with a used code and with another', async () => {
      await assert.rejects(newCode(), { code: 'validation_failed' })
      expectProblem(await complete('A'.repeat(43), 'eve@example.com'), 'validation_failed', [
        'code',
      ])
    })

    test('records who became an owner, in each workspace', async () => {
      const api = await service.api('acme')
      const { body } = expectStatus(await api.get('/events?type=member.added'), 200)
      assert.equal(body.data.length, 1)
      assert.equal(body.data[0].actor.kind, 'person')
      assert.equal(body.data[0].after.role, 'owner')
    })
  })
}
