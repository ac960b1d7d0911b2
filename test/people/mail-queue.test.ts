import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Delivery, DropReason } from '../../src/platform/mail/mailer.ts'
import { SmtpMailer } from '../../src/platform/mail/smtp-mailer.ts'
import { eventually } from '../support/eventually.ts'
import { type Mailbox, startMailbox } from '../support/mailbox.ts'

const SILENT = { info() {}, warn() {}, debug() {} }

type Options = {
  readonly retryDelaysMs?: readonly number[]
  readonly heldMax?: number
  readonly statusOf?: (address: string) => number | undefined
}

describe('a mailer', () => {
  /** What was dropped, as `address: reason`. */
  async function open({ statusOf, ...options }: Options, work: (opened: Opened) => Promise<void>) {
    await using stack = new AsyncDisposableStack()
    const mailbox = await startMailbox(statusOf)
    stack.defer(() => mailbox.stop())
    const mailer = new SmtpMailer({
      url: mailbox.url,
      from: 'terse@example.com',
      log: SILENT,
      ...options,
    })
    stack.defer(() => mailer.stop())
    const dropped: string[] = []
    const send = (to: string, owner: string, kind: Delivery['kind'] = 'invitation') =>
      mailer.send(
        { to, subject: 'A subject', text: 'A text', html: '<p>A text' },
        {
          kind,
          owner,
          onDropped: async (reason: DropReason) => void dropped.push(`${to}: ${reason}`),
        },
      )
    await work({ mailbox, mailer, dropped, send })
  }

  type Opened = {
    readonly mailbox: Mailbox
    readonly mailer: SmtpMailer
    readonly dropped: readonly string[]
    readonly send: (to: string, owner: string, kind?: Delivery['kind']) => void
  }

  const deferAll = () => 451

  test('serves workspaces in turn', async () => {
    await open({}, async ({ mailbox, send }) => {
      for (const each of ['a', 'b', 'c', 'd', 'e', 'f']) send(`${each}@one.example`, 'one')
      send('a@two.example', 'two')
      await eventually(async () => assert.equal(mailbox.received.length, 7))
      const place = mailbox.attempts.indexOf('a@two.example')
      assert.ok(place <= 2, `sent as number ${place + 1}`)
    })
  })

  test('tries a deferred message again, and sends it when the server accepts it', async () => {
    let refusals = 2
    const statusOf = () => (refusals-- > 0 ? 451 : undefined)
    await open({ statusOf, retryDelaysMs: [1, 1] }, async ({ mailbox, dropped, send }) => {
      send('ada@example.com', 'one')
      await eventually(async () => assert.equal(mailbox.received.length, 1))
      assert.deepEqual([mailbox.attempts.length, dropped], [3, []])
    })
  })

  test('reports a message that is refused, and one that is deferred each time', async () => {
    const statusOf = (address: string) => (address.startsWith('gone') ? 550 : 451)
    await open({ statusOf, retryDelaysMs: [1] }, async ({ mailbox, dropped, send }) => {
      send('gone@example.com', 'one')
      send('busy@example.com', 'two')
      await eventually(async () => assert.equal(dropped.length, 2))
      assert.deepEqual(dropped.toSorted(), [
        'busy@example.com: deferred',
        'gone@example.com: refused',
      ])
      assert.deepEqual(mailbox.attempts.toSorted(), [
        'busy@example.com',
        'busy@example.com',
        'gone@example.com',
      ])
    })
  })

  test('reports a message that no server accepts the connection for', async () => {
    await open({ retryDelaysMs: [1] }, async ({ mailbox, dropped, send }) => {
      await mailbox.stop()
      send('ada@example.com', 'one')
      await eventually(async () => assert.deepEqual(dropped, ['ada@example.com: deferred']))
    })
  })

  test('makes room for a workspace at the expense of the one with the most messages', async () => {
    const statusOf = (address: string) => (address.endsWith('@one.example') ? 451 : undefined)
    const options = { statusOf, retryDelaysMs: [60_000], heldMax: 3 }
    await open(options, async ({ mailbox, dropped, send }) => {
      for (const each of ['a', 'b', 'c', 'd']) send(`${each}@one.example`, 'one')
      send('a@two.example', 'two')
      await eventually(async () => assert.equal(mailbox.received.length, 1))
      assert.deepEqual(mailbox.received[0]?.to, ['a@two.example'])
      assert.deepEqual(dropped, ['d@one.example: queue_full', 'c@one.example: queue_full'])
    })
  })

  test('keeps room for new passwords when invitations fill theirs', async () => {
    const statusOf = (address: string) => (address.endsWith('@one.example') ? 451 : undefined)
    const options = { statusOf, retryDelaysMs: [60_000], heldMax: 2 }
    await open(options, async ({ mailbox, send }) => {
      for (const each of ['a', 'b', 'c']) send(`${each}@one.example`, 'one')
      send('ada@example.com', 'ada', 'password_reset')
      await eventually(async () => assert.equal(mailbox.received.length, 1))
    })
  })

  test('reports what waits when it stops', async () => {
    const options = { statusOf: deferAll, retryDelaysMs: [60_000] }
    await open(options, async ({ mailbox, mailer, dropped, send }) => {
      send('ada@example.com', 'one')
      await eventually(async () => assert.equal(mailbox.attempts.length, 1))
      await mailer.stop()
      assert.deepEqual(dropped, ['ada@example.com: stopped'])
      send('late@example.com', 'one')
      await mailer.stop()
      assert.deepEqual(dropped[1], 'late@example.com: stopped')
    })
  })
})
