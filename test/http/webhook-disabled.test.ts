import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { sqliteFile } from '../../src/storage/sqlite/data-files.ts'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type Mailbox, startMailbox } from '../support/mailbox.ts'
import { PASSWORD, type PersonClient, personClient, setUp } from '../support/person-client.ts'
import { type Service, startService } from '../support/service.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const CODE = /#code=([A-Za-z0-9_-]{43})/
const FIVE_DAYS_MICROS = 5 * 24 * 60 * 60 * 1_000_000

describe('a webhook that has failed for five days', () => {
  const started = new AsyncDisposableStack()
  let mailbox: Mailbox
  let receiver: WebhookReceiver
  let service: Service
  before(async () => {
    mailbox = await startMailbox()
    started.defer(() => mailbox.stop())
    receiver = await startReceiver()
    started.defer(() => receiver.close())
    service = await startService(SQLITE, {
      TERSE_WEBHOOK_ALLOW: '127.0.0.0/8',
      TERSE_SMTP_URL: mailbox.url,
      TERSE_MAIL_FROM: 'Terse <terse@example.com>',
    })
    started.defer(() => service.stop())
  })
  after(() => started.disposeAsync())

  /** Makes an account by the link of a mailed invitation. */
  async function join(owner: PersonClient, email: string, role: string): Promise<void> {
    expectStatus(await owner.post('/invitations', { email, role }), 201)
    const code = await eventually(async () => {
      const mail = mailbox.received.find(({ to }) => to.includes(email))
      return CODE.exec(mail?.text ?? '')?.[1] ?? assert.fail('no invitation')
    })
    const account = { code, name: email, password: PASSWORD }
    expectStatus(await personClient(service).post('/invitations/accept', account), 201)
  }

  /** Moves the first failure of an endpoint into the past. */
  function age(id: string): void {
    const database = new DatabaseSync(sqliteFile(service.place.dataDir), { timeout: 10_000 })
    try {
      const aged =
        'update webhook_queues set failing_since = failing_since - ? where webhook_id = ?'
      assert.equal(database.prepare(aged).run(FIVE_DAYS_MICROS, id).changes, 1)
    } finally {
      database.close()
    }
  }

  test('is disabled with an event, and a mail to those who may enable it', async () => {
    const api = await service.api()
    const owner = await setUp(service)
    const { body: session } = expectStatus(await owner.get('/session'), 200)
    owner.workspaceId = session.memberships[0].workspace_id
    await join(owner, 'grace@example.com', 'admin')
    await join(owner, 'linus@example.com', 'member')
    receiver.answer = () => ({ status: 503 })
    const hook = { name: 'Shop', url: receiver.url, events: ['link.created'] }
    const { id } = expectStatus(await api.post('/webhooks', hook), 201).body
    const show = async () => expectStatus(await api.get(`/webhooks/${id}`), 200).body
    const link = { domain: 'localhost', url: 'https://example.com/' }
    expectStatus(await api.post('/links', link), 201)
    const [call] = await receiver.until(1)
    await eventually(async () => assert.equal((await show()).state, 'failing'))
    age(id)
    expectStatus(await api.post(`/webhooks/${id}/replay`, { message_id: call?.id }), 200)
    const shown = await eventually(async () => {
      const body = await show()
      assert.equal(body.state, 'disabled')
      return body
    })
    assert.deepEqual([shown.disabled_reason, shown.fault_status], ['failures', 503])
    const { data } = expectStatus(await api.get(`/events?subject=${id}`), 200).body
    assert.equal(data[0].type, 'webhook.disabled')
    assert.deepEqual(data[0].after, {
      ...{ name: 'Shop', url: receiver.url },
      ...{ reason: 'failures', fault: 'status', status: 503 },
    })

    const mails = await eventually(async () => {
      const found = mailbox.received.filter(({ text }) => text.includes('is disabled'))
      assert.equal(found.length, 2)
      return found
    })
    assert.deepEqual(mails.flatMap(({ to }) => to).toSorted(), [
      'ada@example.com',
      'grace@example.com',
    ])
    for (const { text } of mails) {
      assert.match(text, /Nothing could be delivered for five days\./)
      assert.ok(text.includes(`/settings/webhooks/${id}`))
    }
  })
})
