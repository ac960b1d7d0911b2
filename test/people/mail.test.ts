import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type Mailbox, type Received, startMailbox } from '../support/mailbox.ts'
import { PASSWORD, personClient, setUp, signIn } from '../support/person-client.ts'
import { expectProblem, withoutId } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const EMAIL = 'ada@example.com'
const NEW_PASSWORD = 'another horse battery staple'
const CODE = /#code=3?D?([A-Za-z0-9_-]{43})/
const RESET_MESSAGE = 'If an account has this address, an e-mail is on its way.'

/** Servers that greylist defer what they do not know; others refuse it. */
function statusOf(address: string): number | undefined {
  if (address.endsWith('@greylisted.example')) return 451
  return address.endsWith('@refused.example') ? 550 : undefined
}

describe('mail', () => {
  const clock = fakeClock(Date.now())
  /** Ends what runs, also after a start that failed: otherwise this process would not end. */
  const started = new AsyncDisposableStack()
  let mailbox: Mailbox
  let service: Service

  before(async () => {
    mailbox = await startMailbox(statusOf)
    started.defer(() => mailbox.stop())
    const settings = { TERSE_SMTP_URL: mailbox.url, TERSE_MAIL_FROM: 'Terse <terse@example.com>' }
    service = await startService(SQLITE, settings, { clock })
    started.defer(() => service.stop())
    await service.token('acme')
    await setUp(service)
  })
  after(() => started.disposeAsync())

  async function askFor(email: string, language?: string) {
    const headers = language === undefined ? {} : { 'accept-language': language }
    return personClient(service).post('/password-resets', { email }, headers)
  }

  /** The next message that arrives while `work` runs. */
  async function nextMail(work: () => Promise<unknown>): Promise<Received> {
    const before = mailbox.received.length
    await work()
    await eventually(async () => assert.ok(mailbox.received.length > before))
    const mail = mailbox.received[before]
    assert.ok(mail)
    return mail
  }

  const complete = (code: string, password = NEW_PASSWORD) =>
    personClient(service).post('/password-resets/complete', { code, password })

  test('a link sets a new password once, ends all sessions and starts none', async () => {
    const session = await signIn(service)
    const mail = await nextMail(async () => {
      const answer = expectStatus(await askFor('ADA@example.com'), 202)
      assert.equal(answer.body.message, RESET_MESSAGE)
    })
    assert.deepEqual(mail.to, [EMAIL])
    assert.match(mail.text, /Set a new password for localhost/)
    assert.match(mail.text, /<html lang="en">/)
    assert.match(mail.text, /\/app\/reset#code=/)
    const [, code = ''] = CODE.exec(mail.text) ?? []
    expectProblem(await complete(code, 'short'), 'validation_failed', ['password'])
    const answers = await Promise.all([complete(code), complete(code)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422])
    assert.equal(answers.flatMap(({ headers }) => headers.getSetCookie()).length, 0)
    expectProblem(await session.get('/me'), 'unauthorized')
    const old = await personClient(service).post('/session', { email: EMAIL, password: PASSWORD })
    expectProblem(old, 'unauthorized')
    await signIn(service, { password: NEW_PASSWORD })
  })

  test('a link ends after an hour, and when another link is used', async () => {
    const codes: string[] = []
    for (const language of ['de-AT,de;q=0.9,en;q=0.5', 'en']) {
      clock.move(60 * 60)
      const mail = await nextMail(() => askFor(EMAIL, language))
      if (language !== 'en') assert.match(mail.text, /Neues Passwort festlegen/)
      codes.push(CODE.exec(mail.text)?.[1] ?? '')
    }
    const [expired = '', first = ''] = codes
    expectProblem(await complete(expired), 'validation_failed', ['code'])
    const [, second = ''] = CODE.exec((await nextMail(() => askFor(EMAIL))).text) ?? []
    expectStatus(await complete(second, PASSWORD), 200)
    expectProblem(await complete(first), 'validation_failed', ['code'])
  })

  test('unknown people get the same answer and no mail, and known ones three an hour', async () => {
    clock.move(60 * 60)
    const count = mailbox.received.length
    for (let request = 0; request < 5; request += 1) {
      for (const email of ['nobody@example.com', EMAIL]) {
        assert.equal(expectStatus(await askFor(email), 202).body.message, RESET_MESSAGE)
      }
    }
    await eventually(async () => assert.ok(mailbox.received.length >= count + 3))
    clock.move(60 * 60)
    await nextMail(() => askFor(EMAIL))
    const to = mailbox.received.slice(count).flatMap((mail) => mail.to)
    assert.deepEqual(to, Array(4).fill(EMAIL))
  })

  test('one address cannot ask for more than twenty an hour', async () => {
    clock.move(60 * 60)
    const statuses = []
    for (let request = 0; request < 21; request += 1) {
      statuses.push((await askFor('nobody@example.com')).status)
    }
    assert.deepEqual(statuses, [...Array(20).fill(202), 429])
  })

  async function signInAtWork() {
    const ada = await signIn(service)
    const { body } = await ada.get('/session')
    ada.workspaceId = body.memberships[0].workspace_id
    return ada
  }

  test('an invitation is sent too', async () => {
    const ada = await signInAtWork()
    const mail = await nextMail(async () => {
      const invitation = { email: 'bob@example.com', role: 'viewer' }
      const answer = expectStatus(await ada.post('/invitations', invitation), 201)
      assert.equal(answer.body.mail_sent, true)
    })
    assert.deepEqual(mail.to, ['bob@example.com'])
    assert.match(mail.text, /Ada Lovelace invites you to the workspace acme on localhost/)
    assert.match(mail.text, /\/app\/invitation#code=/)
  })

  test('refuses a name that holds a web address, because invitations show it', async () => {
    const ada = await signInAtWork()
    const name = 'A prize at https://evil.com'
    expectProblem(await ada.patch('/me', { name }), 'validation_failed', ['name'])
    const invited = { email: 'eve@example.com', role: 'admin' }
    const { text } = await nextMail(() => ada.post('/invitations', invited))
    const code = CODE.exec(text)?.[1]
    const accept = { code, name, password: NEW_PASSWORD }
    const refused = await personClient(service).post('/invitations/accept', accept)
    expectProblem(refused, 'validation_failed', ['name'])
  })

  test('an invitation answers alike whether its address has an account', async () => {
    const ada = await signInAtWork()
    const known = 'known@example.com'
    const first = await nextMail(() => ada.post('/invitations', { email: known, role: 'viewer' }))
    const account = { code: CODE.exec(first.text)?.[1], name: 'K', password: NEW_PASSWORD }
    const client = personClient(service)
    const joined = await client.post('/invitations/accept', account)
    const { id } = expectStatus(joined, 201).body.person
    expectStatus(await ada.delete(`/members/${id}`), 200)
    const answersFor = async (email: string) => {
      const answers: unknown[] = []
      const mail = await nextMail(async () => {
        const { status, body } = await ada.post('/invitations', { email, role: 'viewer' })
        answers.push(status, Object.keys(body).sort())
        const code = CODE.exec(body.url)?.[1]
        const stranger = personClient(service)
        const { body: details } = await stranger.post('/invitations/look-up', { code })
        answers.push(details.account_exists, details.can_create_account)
        for (const password of ['short', NEW_PASSWORD]) {
          const accept = { code, name: 'Eve', password }
          const answer = await stranger.post('/invitations/accept', accept)
          const refusal = JSON.stringify(withoutId(answer)).replaceAll(email, 'address')
          answers.push(answer.status, refusal)
        }
        const { body: list } = await ada.get('/invitations')
        answers.push(Object.keys(list.data.at(-1)).sort())
      })
      answers.push(mail.text.includes('#code='))
      const { body } = await personClient(service).post('/invitations/look-up', {
        code: CODE.exec(mail.text)?.[1],
      })
      assert.equal(body.account_exists, email === known, 'who reads the mail learns it')
      return answers
    }
    assert.deepEqual(await answersFor(known), await answersFor('unknown@example.com'))
  })

  test('an invitation that the mail server refuses is an event', async () => {
    const ada = await signInAtWork()
    const email = 'gone@refused.example'
    const invitation = await ada.post('/invitations', { email, role: 'viewer' })
    const { id } = expectStatus(invitation, 201).body
    await eventually(async () => {
      const { body } = await ada.get(`/events?type=mail.dropped&subject=${id}`)
      const [event] = body.data
      assert.equal(event?.actor.name, 'mail')
      assert.deepEqual(event.after, { kind: 'invitation', email, reason: 'refused' })
    })
  })

  test('a link for a new password does not wait for deferred invitations', async () => {
    clock.move(60 * 60)
    const ada = await signInAtWork()
    const addresses = Array.from({ length: 12 }, (_, each) => `${each}@greylisted.example`)
    for (const email of addresses) {
      expectStatus(await ada.post('/invitations', { email, role: 'viewer' }), 201)
    }
    const mail = await nextMail(() => askFor(EMAIL))
    assert.deepEqual(mail.to, [EMAIL])
    await eventually(async () => {
      assert.deepEqual(
        addresses.filter((address) => !mailbox.attempts.includes(address)),
        [],
      )
    })
  })
})

describe('an instance without mail', () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE)
  })
  after(() => service.stop())

  test('says that it sends no mail', async () => {
    const client = personClient(service)
    assert.equal((await client.get('/sign-in-options')).body.mail, false)
    const answer = await client.post('/password-resets', { email: EMAIL })
    expectProblem(answer, 'validation_failed', ['email'])
  })
})
