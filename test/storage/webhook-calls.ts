import { randomUUID } from 'node:crypto'
import type { Stores } from '../../src/app/database/stores.ts'
import { type Home, NOW } from './samples.ts'
import {
  concludeOne,
  newLeasedWebhook,
  newMessage,
  newOutcome,
  newReplay,
  newWebhook,
} from './webhook-samples.ts'

type Call = (stores: Stores) => Promise<unknown>

/** Every method of the webhook stores that only reads. */
export function webhookReads(home: Home): Readonly<Record<string, Call>> {
  const { workspace_id: workspace } = home
  const id = randomUUID()
  return {
    'webhooks.page': (s) => s.webhooks.page(workspace, 0, 25),
    'webhooks.find': (s) => s.webhooks.find(workspace, id),
    'webhooks.findAny': (s) => s.webhooks.findAny(id),
    'webhooks.count': (s) => s.webhooks.count(workspace),
    'webhooks.listEnabled': (s) => s.webhooks.listEnabled([workspace]),
    'webhooks.hasEnabled': (s) => s.webhooks.hasEnabled(),
    'webhooks.workspacesFor': (s) => s.webhooks.workspacesFor('link.clicked'),
    'webhooks.findQueues': (s) => s.webhooks.findQueues([id]),
    'webhookMessages.findDueWorkspaces': (s) => s.webhookMessages.findDueWorkspaces(0, NOW),
    'webhookMessages.due': async (s) => {
      await s.webhookMessages.due(newLeasedWebhook(home), NOW, 10)
      await s.webhookMessages.due(newLeasedWebhook(home, { ordered: true }), NOW, 10)
    },
    'webhookAttempts.run': (s) =>
      s.webhookAttempts.run(
        id,
        { event: 'link.created', messageId: 'evt', onlyFailed: true },
        { beyond: 2, limit: 10 },
      ),
    'webhookAttempts.health': (s) => s.webhookAttempts.health(id, 0),
    'webhookAttempts.listWebhookIds': (s) => s.webhookAttempts.listWebhookIds(),
    'webhookOutbox.findCursor': (s) => s.webhookOutbox.findCursor('events'),
    'webhookOutbox.findReplays': (s) => s.webhookOutbox.findReplays([id]),
    'webhookOutbox.listOpenReplays': (s) => s.webhookOutbox.listOpenReplays(10),
    'webhookOutbox.countWaiting': (s) => s.webhookOutbox.countWaiting(id, 10),
    'webhookOutbox.countPeriod': (s) =>
      s.webhookOutbox.countPeriod(
        id,
        { fromMicros: 0, toMicros: NOW, events: ['link.clicked'], onlyUndelivered: true },
        10,
      ),
    'webhookOutbox.deliveredAmong': (s) => s.webhookOutbox.deliveredAmong(id, ['evt']),
    'webhookOutbox.listOverflowing': (s) => s.webhookOutbox.listOverflowing(10),
    'milestones.expired': (s) =>
      s.milestones.expired({ expires_at: '', seq: 0 }, '2030-01-01T00:00:00.000000Z', 10),
    'milestones.reached': (s) => s.milestones.reached(0),
    'events.walk': (s) =>
      s.events.walk({
        ...{ workspaceId: workspace, types: ['link.created'], fromMicros: 0, toMicros: NOW },
        ...{ after: { at: 0, sequence: 0 }, limit: 10 },
      }),
  }
}

/** Every method of the webhook stores that writes. */
export function webhookWrites(home: Home): Readonly<Record<string, Call>> {
  const { workspace_id: workspace } = home
  const id = randomUUID()
  return {
    'milestones.moveExpiry': (s) => s.milestones.moveExpiry('name', 'one', 'two'),
    'milestones.noteReached': async (s) => {
      await s.milestones.noteReached(1, 2)
      await s.milestones.noteReached(1, 3)
    },
    'webhooks.insert': (s) => s.webhooks.insert(newWebhook(home)),
    'webhooks.update': async (s) => {
      const before = newWebhook(home)
      await s.webhooks.insert(before)
      await s.webhooks.update({ ...before, updated_at: NOW + 1 }, before)
    },
    'webhooks.delete': (s) => s.webhooks.delete(workspace, id),
    'webhookMessages.enqueue': async (s) => {
      const webhook = newWebhook(home)
      await s.webhooks.insert(webhook)
      const queued = [{ webhook, message: newMessage() }]
      await s.webhookMessages.enqueue(queued, NOW)
      await s.webhookMessages.enqueue(queued, NOW, { again: true })
    },
    'webhookMessages.leaseDue': (s) =>
      s.webhookMessages.leaseDue(
        new Map([[workspace, 1]]),
        { holder: 'one', now: NOW, until: NOW + 1 },
        1,
      ),
    'webhookMessages.renew': (s) => s.webhookMessages.renew('one', NOW + 2),
    'webhookMessages.conclude': (s) => concludeOne(s, home),
    'webhookMessages.release': (s) => s.webhookMessages.release(newLeasedWebhook(home), NOW),
    'webhookMessages.giveUp': (s) => s.webhookMessages.giveUp(id),
    'webhookMessages.forgetFaults': (s) => s.webhookMessages.forgetFaults(id),
    'webhookMessages.logTest': (s) => s.webhookMessages.logTest(id, newMessage(), newOutcome()),
    'webhookMessages.requeue': (s) => s.webhookMessages.requeue(id, 'evt', NOW),
    'webhookMessages.requeuePeriod': (s) =>
      s.webhookMessages.requeuePeriod(
        id,
        { fromMicros: 0, toMicros: NOW, events: ['link.clicked'], onlyUndelivered: true },
        NOW,
      ),
    'webhookAttempts.trim': (s) => s.webhookAttempts.trim(1),
    'webhookAttempts.trimBeyond': (s) => s.webhookAttempts.trimBeyond(id, 0),
    'webhookAttempts.erase': (s) => s.webhookAttempts.erase(id),
    'webhookOutbox.begin': (s) => s.webhookOutbox.begin('clicks', '{}'),
    'webhookOutbox.move': async (s) => {
      await s.webhookOutbox.begin('clicks', '{}')
      const cursor = await s.webhookOutbox.findCursor('clicks')
      if (cursor !== undefined) await s.webhookOutbox.move('clicks', '{}', cursor)
    },
    'webhookOutbox.end': (s) => s.webhookOutbox.end('events', { position: '', revision: 0 }),
    'webhookOutbox.putReplay': (s) => s.webhookOutbox.putReplay(newReplay()),
    'webhookOutbox.updateReplay': async (s) => {
      const replay = newReplay()
      await s.webhookOutbox.putReplay(replay)
      await s.webhookOutbox.updateReplay({ ...replay, revision: 0 })
    },
  }
}
