import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/time/clock.ts'
import type { ClickWriter } from '../click-writer.ts'
import type { SealedSpool } from '../spool/spool-reader.ts'

/**
 * After each batch, so much time is left to others for each millisecond that it took: a million imported clicks must
 * not delay the clicks of visitors, nor the changes of links.
 */
const PAUSE_SHARE = 1
const PAUSE_MS_MIN = 10
/** How long to leave a spool to another process that counts it at the same time. */
const TAKEN_PAUSE_MS = 5_000

type Counting = {
  readonly writer: Pick<ClickWriter, 'spools' | 'findPosition' | 'write'>
  readonly clock: Clock
  /** Called with the number of counted clicks after each batch. */
  readonly onCounted: (clicks: number) => void
}

/** `taken`: another process has counted the batch. */
export type CountedBatch = {
  readonly outcome: 'counted' | 'taken' | 'end'
  readonly pauseMs: number
}

/** Counts the next batch of a spool: each click once, whichever processes do so, and whenever they are killed. */
export async function countBatch(
  { writer, clock, onCounted }: Counting,
  { id, journalId }: SealedSpool,
): Promise<CountedBatch> {
  const startedMs = performance.now()
  const from = await writer.findPosition(journalId)
  const batch = await writer.spools.read(id, from)
  if (batch === undefined) return { outcome: 'end', pauseMs: 0 }
  const isCounted = await writer.write({ journalId, from, ...batch, atMicros: clock.nowMicros() })
  if (!isCounted) return { outcome: 'taken', pauseMs: TAKEN_PAUSE_MS }
  onCounted(batch.clicks.visits)
  const tookMs = performance.now() - startedMs
  return { outcome: 'counted', pauseMs: Math.max(PAUSE_MS_MIN, PAUSE_SHARE * tookMs) }
}

/** Counts all of a spool, for a program that has no drain thread. */
export async function countSpool(
  counting: Counting,
  spool: SealedSpool,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { outcome, pauseMs } = await countBatch(counting, spool)
    if (outcome === 'end') return
    await sleep(pauseMs, undefined, { signal })
  }
}
