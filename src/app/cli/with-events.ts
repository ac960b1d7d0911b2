import type { Events } from '../../events/events.ts'
import type { Workspaces } from '../../identity/index.ts'
import { withInstance } from './with-instance.ts'

/** Opens the configured instance and its event log for one command. */
export function withEvents<T>(
  work: (services: { events: Events; workspaces: Workspaces }) => Promise<T>,
): Promise<T> {
  return withInstance(async ({ store, workspaces }) => {
    const { EVENT_QUEUE, Events } = await import('../../events/events.ts')
    const { WorkQueues } = await import('../../platform/work/work-queues.ts')
    const events = new Events({ store, lists: new WorkQueues().open(EVENT_QUEUE) })
    return work({ events, workspaces })
  })
}
