import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deliveries, type Disabled } from '../../src/webhooks/deliveries.ts'
import type { Message, Webhook } from '../../src/webhooks/webhook.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { describeStore } from '../support/store.ts'
import { addHome, NOW } from './samples.ts'
import { newMessage, newOutcome, newWebhook } from './webhook-samples.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

describeStore('deliveries of webhooks', (at) => {
  /** An endpoint with what waits there, a receiver that is down or not, and a clock. */
  async function stageOf(given: Partial<Webhook> = {}) {
    const clock = fakeClock()
    const { store } = at
    const webhook = newWebhook(await addHome(store), given)
    await store.write((stores) => stores.webhooks.insert(webhook))
    const sent: string[] = []
    const disabled: Disabled[] = []
    const receiver = {
      isDown: false,
      refuses: (_: Pick<Message, 'message_id'>) => false,
      beforeAnswer: async () => {},
    }
    const deliveries = new Deliveries({
      ...{ store, clock },
      holder: webhook.id,
      caller: {
        async call(_, message) {
          sent.push(message.message_id)
          await receiver.beforeAnswer()
          const isRefused = receiver.isDown || receiver.refuses(message as Message)
          const failed = { status: 503, fault: 'status' } as const
          return newOutcome({ at: clock.nowMicros(), ...(isRefused && failed) })
        },
      },
      random: () => 0,
      onDisabled: (each) => disabled.push(each),
      onError: (error) => assert.fail(String(error)),
      onSlotFree: () => {},
    })
    return {
      ...{ clock, webhook, sent, disabled, receiver, deliveries },
      async queue(count: number) {
        const messages = Array.from({ length: count }, () => newMessage())
        await store.write((stores) =>
          stores.webhookMessages.enqueue(
            messages.map((message) => ({ webhook, message })),
            clock.nowMicros(),
          ),
        )
        return messages.map(({ message_id }) => message_id)
      },
      /** Lets time pass in steps, in each of which what is due is sent. */
      async pass(seconds: number, step: number) {
        for (let passed = 0; passed <= seconds; passed += step) {
          await deliveries.startDue()
          await deliveries.settled()
          clock.move(step)
        }
      },
      waiting: () => store.read.webhookOutbox.countWaiting(webhook.id, 10_000),
      find: () => store.read.webhooks.findAny(webhook.id),
    }
  }

  test('send everything after an hour of outage, trying little meanwhile, each once', async () => {
    const stage = await stageOf()
    stage.receiver.isDown = true
    const queued = [...(await stage.queue(20))]
    await stage.pass(60, 10)
    queued.push(...(await stage.queue(20)))
    await stage.pass(HOUR, 60)
    // 8 at a time until the breaker opens, then single ones.
    assert.ok(stage.sent.length < 120, String(stage.sent.length))
    stage.receiver.isDown = false
    stage.sent.length = 0
    await stage.pass(2 * HOUR, 60)
    assert.equal(await stage.waiting(), 0)
    assert.deepEqual(stage.sent.toSorted(), queued.toSorted())
  })

  test('hold back what follows a failure where the order is kept', async () => {
    const stage = await stageOf({ ordered: true })
    const queued = await stage.queue(5)
    stage.receiver.refuses = ({ message_id }) => message_id === queued[2]
    await stage.pass(20, 10)
    assert.deepEqual([...new Set(stage.sent)], queued.slice(0, 3))
    stage.receiver.refuses = () => false
    stage.sent.length = 0
    await stage.pass(HOUR, 60)
    assert.deepEqual(stage.sent, queued.slice(2))
  })

  test('go on with other endpoints at once, and with those of a killed process when its leases end', async () => {
    const killed = await stageOf()
    const { promise: killedAnswer, resolve } = Promise.withResolvers<void>()
    killed.receiver.beforeAnswer = () => killedAnswer
    const [held] = await killed.queue(1)
    // Due for longer than processes look back for what others have queued.
    killed.clock.move(20)
    await killed.deliveries.startDue()
    const other = await stageOf()
    other.clock.move(22)
    const [own] = await other.queue(1)
    await other.pass(5, 1)
    assert.deepEqual(other.sent, [own])
    await other.pass(10, 1)
    assert.deepEqual(other.sent, [own, held])
    // What a process does with a lease that it has lost is not kept.
    resolve()
    await killed.deliveries.settled()
    const filter = { onlyFailed: false }
    const attempts = { beyond: undefined, limit: 10 }
    const { items } = await at.store.read.webhookAttempts.run(killed.webhook.id, filter, attempts)
    assert.deepEqual(
      items.map(({ message_id }) => message_id),
      [held],
    )
  })

  test('disable an endpoint after five days of failures, and give up what waits', async () => {
    const stage = await stageOf()
    stage.receiver.isDown = true
    await stage.queue(3)
    await stage.pass(4.9 * DAY, 10 * 60)
    assert.equal((await stage.find())?.disabled_at, null)
    await stage.pass(0.2 * DAY, 10 * 60)
    const webhook = await stage.find()
    assert.equal(webhook?.disabled_reason, 'failures')
    assert.equal(stage.disabled.length, 1)
    assert.equal(await stage.waiting(), 0)
  })

  test('give up a message that is always refused, and deliver all others', async () => {
    const stage = await stageOf()
    const [refused] = await stage.queue(1)
    stage.receiver.refuses = ({ message_id }) => message_id === refused
    for (let day = 0; day < 6; day += 1) {
      await stage.queue(2)
      await stage.pass(DAY, 30 * 60)
    }
    assert.equal(await stage.waiting(), 0)
    assert.equal((await stage.find())?.disabled_at, null)
    assert.equal(new Set(stage.sent).size, 13)
    assert.ok(stage.sent.filter((id) => id === refused).length > 12)
  })

  test('send nothing more to a slow endpoint that was deleted or disabled, or whose workspace is gone', async () => {
    const { store } = at
    const removals: ((webhook: Webhook) => Promise<unknown>)[] = [
      ({ workspace_id, id }) => store.write((stores) => stores.webhooks.delete(workspace_id, id)),
      (webhook) =>
        store.write(async (stores) => {
          const { updated_at } = webhook
          const disabled = { disabled_at: updated_at + 1, disabled_reason: 'by_hand' } as const
          await stores.webhooks.update(
            { ...webhook, ...disabled, updated_at: updated_at + 1 },
            webhook,
          )
          await stores.webhookMessages.giveUp(webhook.id)
        }),
      ({ workspace_id }) =>
        store.write((stores) => stores.workspaces.markDeleted(workspace_id, NOW)),
    ]
    for (const remove of removals) {
      const stage = await stageOf()
      await stage.queue(40)
      let removed: Promise<unknown> | undefined
      stage.receiver.beforeAnswer = async () => {
        removed ??= remove(stage.webhook)
        await removed
        stage.clock.move(14)
      }
      await stage.pass(HOUR, 60)
      // Those that were under way.
      assert.equal(stage.sent.length, 8)
    }
  })
})
