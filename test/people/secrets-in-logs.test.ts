import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { untilServed } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { PASSWORD, personClient, signIn } from '../support/person-client.ts'
import { runCommand } from '../support/run-command.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

describe('terse serve, for the first person', () => {
  let place: Place
  let service: ServiceProcess
  let base: { baseUrl: string }
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    service = await startProcess(place, { TERSE_LOG_LEVEL: 'trace' })
    base = { baseUrl: `http://127.0.0.1:${service.port}` }
  })
  after(async () => {
    await service.stop()
    await place.remove()
  })

  const codeOf = (text: string) => /\/app\/setup#code=([\w-]{43})/.exec(text)?.[1] ?? ''

  test('prints a link that sets the person up, and never again a secret', async () => {
    const printed = codeOf(service.output().stdout)
    assert.equal(printed.length, 43)
    const env = { ...place.env, TERSE_BASE_URL: 'https://links.example' }
    const { code, stdout } = await runCommand(['setup'], env)
    assert.equal(code, 0)
    assert.match(stdout, /^https:\/\/links\.example\/app\/setup#code=[\w-]{43}\n?$/)
    const another = codeOf(stdout)
    assert.notEqual(another, printed)

    const client = personClient(base)
    const person = { email: 'ada@example.com', name: 'Ada', password: PASSWORD }
    const wrong = { ...person, code: `${printed.slice(0, -1)}-`, password: 'violet umbrellas sing' }
    const setUp = async (given: object) =>
      (await untilServed(() => client.post('/setup', given))).status
    assert.equal(await setUp(wrong), 422)
    assert.equal(await setUp({ ...person, code: printed }), 201)
    assert.equal(await setUp({ ...person, code: another }), 422)
    const refused = await runCommand(['setup'], env)
    assert.notEqual(refused.code, 0)

    const secrets = [PASSWORD, 'violet umbrellas sing', printed, another, client.cookie.slice(20)]
    const again = await signIn(base)
    secrets.push(again.cookie.slice(20))
    await untilServed(() => again.post('/session/authenticate', { password: PASSWORD }))
    secrets.push(again.cookie.slice(20))
    await again.post('/session', { email: 'ada@example.com', password: 'plainly wrong' })
    await again.put('/me/password', { password: 'purple elephants whisper' })
    await again.delete('/session')
    secrets.push('plainly wrong', 'purple elephants whisper')
    const { stderr } = service.output()
    for (const secret of secrets) {
      assert.ok(secret.length > 10)
      assert.ok(!stderr.includes(secret), secret)
    }
  })
})
