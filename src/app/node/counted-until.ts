import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import type { Nodes } from '../../operations/nodes/nodes.ts'
import type { Node } from '../../operations/nodes/store/node-store.ts'
import { staleCache } from '../../platform/cache/stale-cache.ts'
import { type Clock, formatInstant } from '../../platform/time/clock.ts'

/** Clicks that wait for less than this are not worth mentioning: counting keeps up. */
export const KEEPS_UP_MICROS = 10 * 1_000_000
/** A heartbeat and a half: what a node has not counted since its last heartbeat, only that node knows. */
const HEARTBEAT_MICROS = 30 * 1_000_000
const AGE_MS_MAX = 1_000
const WAIT_MS_MAX = 500

type Sources = {
  readonly intake: Pick<ClickIntake, 'held'>
  readonly nodes: Pick<Nodes, 'list'>
  readonly clock: Clock
}

/** Returns the instant before which all clicks are counted, in the form of the API; null while counting keeps up. */
export type CountedUntil = () => Promise<string | null>

/**
 * Combines the journals that this process holds with the heartbeats of other processes, also of those that are lost:
 * their journals may hold clicks. Cached for a second; while the database does not answer, of this process alone.
 *
 * The instant is never later than the truth. While counting keeps up there is none, so that answers stay the same for
 * clients that send an entity tag.
 */
export function openCountedUntil({ intake, nodes, clock }: Sources): CountedUntil {
  const earliest = (listed: readonly Node[]) => {
    const now = clock.nowMicros()
    const held = intake.held()
    const ids = new Set(held.map(({ id }) => id))
    const others = listed.filter(({ id }) => !ids.has(id))
    return Math.min(
      now,
      ...held.flatMap(({ oldestMicros }) => oldestMicros ?? []),
      ...others.map((node) => countedUntilOf(node, now)),
    )
  }
  const read = staleCache({
    load: async () => earliest(await nodes.list().catch(() => [])),
    ageMsMax: AGE_MS_MAX,
    waitMsMax: WAIT_MS_MAX,
  })
  return async () => {
    const instant = (await read()) ?? earliest([])
    return clock.nowMicros() - instant <= KEEPS_UP_MICROS ? null : formatInstant(instant)
  }
}

function countedUntilOf({ oldest_click_at, beat_at }: Node, now: number): number {
  if (oldest_click_at !== null) return oldest_click_at
  return now - beat_at <= HEARTBEAT_MICROS ? now : beat_at
}
