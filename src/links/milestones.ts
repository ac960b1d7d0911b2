import { systemActor } from '../identity/index.ts'
import { type Clock, formatInstant } from '../platform/time/clock.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { InstanceStore } from '../storage/instance-keys.ts'
import type { Store } from '../storage/store.ts'
import type { ExpiryMark, MilestoneStore } from './store/milestone-store.ts'

/** The row of `instance` with the position. */
const EXPIRY_POSITION = 'links_expired_until'

const LINKS_PER_STEP = 500
/** A click is counted within this time after its process asked for clicks of the limit. */
const COUNTING_MICROS = 60 * 60 * 1_000_000

const expiry = systemActor('expiry of links')
const limits = systemActor('limits of links')

type Dependencies = {
  readonly store: Store<{
    readonly milestones: MilestoneStore
    readonly instance: InstanceStore
    readonly events: EventWriter
  }>
  readonly clock: Clock
}

/**
 * Writes an event of each link that has expired, and of each whose limit is reached. Several nodes may do it at once: one
 * of them writes each.
 */
export async function noteMilestones(
  deps: Dependencies,
  isCancelled: () => boolean,
): Promise<void> {
  while (!isCancelled() && (await noteExpired(deps)));
  if (!isCancelled()) await noteReached(deps)
}

/** Returns whether there may be more. */
async function noteExpired({ store, clock }: Dependencies): Promise<boolean> {
  const now = clock.nowMicros()
  const until = formatInstant(now)
  const position = await store.read.instance.find(EXPIRY_POSITION)
  if (position === undefined) {
    // Links that expired before anybody looked have no event.
    await store.write(({ instance }) =>
      instance.keep(EXPIRY_POSITION, textOf({ expires_at: until, seq: 0 })),
    )
    return false
  }
  const links = await store.read.milestones.expired(markOf(position), until, LINKS_PER_STEP)
  const last = links.at(-1)
  if (last === undefined) return false
  const next = textOf({ expires_at: last.expires_at ?? until, seq: last.seq })
  await store.write(async (stores) => {
    if (!(await stores.milestones.moveExpiry(EXPIRY_POSITION, position, next))) return
    for (const { id, workspace_id, domain, key, url, expires_at } of links) {
      const after = { domain, key, url, expires_at }
      const event = { type: 'link.expired', subjectId: id, before: null, after } as const
      await stores.events.append(expiry(workspace_id), event, now)
    }
  })
  return links.length === LINKS_PER_STEP
}

async function noteReached({ store, clock }: Dependencies): Promise<void> {
  const now = clock.nowMicros()
  for (const link of await store.read.milestones.reached(now - COUNTING_MICROS)) {
    const { seq, id, workspace_id, domain, key, url, max_clicks } = link
    if (max_clicks === null) continue
    await store.write(async (stores) => {
      if (!(await stores.milestones.noteReached(seq, max_clicks))) return
      const after = { domain, key, url, max_clicks }
      const event = { type: 'link.limit_reached', subjectId: id, before: null, after } as const
      await stores.events.append(limits(workspace_id), event, now)
    })
  }
}

function textOf({ expires_at, seq }: ExpiryMark): string {
  return `${expires_at} ${seq}`
}

function markOf(text: string): ExpiryMark {
  const [expires_at = '', seq = '0'] = text.split(' ')
  return { expires_at, seq: Number(seq) }
}
