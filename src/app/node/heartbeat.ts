import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import type { JournalBacklog } from '../../clicks/journal/journal-reader.ts'
import {
  BEAT_INTERVAL_MS,
  LOST_AFTER_MICROS,
  type Node,
  type Nodes,
} from '../../operations/nodes.ts'
import { staleCache } from '../../platform/cache/stale-cache.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { VERSION } from '../../platform/process/version.ts'
import { type Clock, formatInstant } from '../../platform/time/clock.ts'
import type { SharedAddresses } from './redirects.ts'

export type Heartbeat = {
  /** Removes the row of another process's fully ingested journal. Rejects when the database is unavailable. */
  forget(journalId: string): Promise<void>
  /** Call once the intake has stopped. Removes this node's row unless clicks are left in its journal. */
  stop(left: JournalBacklog): Promise<void>
}

/** How often to look whether counting is behind. Other processes learn that from a heartbeat. */
const LAG_CHECK_INTERVAL_MS = 5_000

/**
 * Renews the heartbeat rows of this node and of the journals that it has taken over every 20 s, or every 5 s while
 * counting is behind, and logs lost nodes.
 */
export function startHeartbeat(parts: {
  nodes: Nodes
  intake: Pick<ClickIntake, 'journalId' | 'held'>
  sharedAddresses: Pick<SharedAddresses, 'untrustedProxy'>
  clock: Clock
  /** This process's number on the machine. */
  process: number
  log: Logger
}): Heartbeat {
  const { nodes, intake, clock, log } = parts
  const started_at = clock.nowMicros()
  let lastBeatAt: number | undefined
  let isFailing = false
  /** Missed heartbeats are ignored until then: an outage, as may have been before the start, silences every node. */
  let judgesFrom = started_at + LOST_AFTER_MICROS
  let beating = beat()

  async function beat(): Promise<void> {
    try {
      for (const { id, ...backlog } of intake.held()) {
        const beatAt = await renew(id, backlog)
        if (id === intake.journalId) lastBeatAt = beatAt
      }
      if (isFailing) judgesFrom = clock.nowMicros() + LOST_AFTER_MICROS
      isFailing = false
      if (clock.nowMicros() >= judgesFrom) await logLost()
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'heartbeat failed')
      isFailing = true
    }
  }

  function renew(id: string, { bytes, oldestMicros }: JournalBacklog): Promise<number> {
    return nodes.beat({
      id,
      name: hostname(),
      process: parts.process,
      version: VERSION,
      started_at,
      backlog_bytes: bytes,
      oldest_click_at: oldestMicros ?? null,
      untrusted_proxy: parts.sharedAddresses.untrustedProxy ?? null,
    })
  }

  async function logLost(): Promise<void> {
    for (const { id, name, process, version, beat_at, backlog_bytes } of await nodes.takeLost()) {
      const lastSeen = new Date(beat_at / 1_000).toISOString()
      const command = terseCommand('journal replay <its data folder>')
      const lost = {
        node: id,
        name,
        process,
        version,
        lastSeen,
        backlogBytes: backlog_bytes,
        command,
      }
      log.error(lost, 'node lost')
    }
  }

  const renewAll = () => {
    beating = beating.then(beat)
  }
  let wasBehind = false
  const checkLag = () => {
    const isBehind = intake
      .held()
      .some(({ oldestMicros }) => (oldestMicros ?? Infinity) < clock.nowMicros() - KEEPS_UP_MICROS)
    // Once more when it has caught up.
    if (isBehind || wasBehind) renewAll()
    wasBehind = isBehind
  }
  const timers = [
    setInterval(renewAll, BEAT_INTERVAL_MS),
    setInterval(checkLag, LAG_CHECK_INTERVAL_MS),
  ]
  for (const timer of timers) timer.unref()
  return {
    forget(journalId) {
      // A beat under way may still renew the row.
      const left = beating.then(() => nodes.leave(journalId))
      beating = left.catch(() => {})
      return left
    },
    async stop(left) {
      for (const timer of timers) clearInterval(timer)
      await beating
      try {
        if (left.bytes === 0) await nodes.leave(intake.journalId, lastBeatAt)
        else await renew(intake.journalId, left)
      } catch (error) {
        log.warn({ err: error }, 'last heartbeat failed')
      }
    },
  }
}

/** Clicks that wait for less than this are not worth mentioning: counting keeps up. */
const KEEPS_UP_MICROS = 10 * 1_000_000
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
type CountedUntil = () => Promise<string | null>

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
