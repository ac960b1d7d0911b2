import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../platform/time/clock.ts'
import { Turns } from '../../platform/work/turns.ts'
import type { ClickWriter } from '../click-writer.ts'
import { backlogBytes, setAside } from '../journal/journal-reader.ts'
import { listSegments } from '../journal/segments.ts'
import { dayOf } from '../tally/click-day.ts'
import type { DrainOrder, DrainReport, JournalPlace } from './drain-messages.ts'
import type { DrainProgress } from './drain-progress.ts'
import { Drainer } from './drainer.ts'

const MAINTAIN_INTERVAL_MS = 10 * 60 * 1_000

/**
 * Takes this node's journal, and orphaned ones, into the store, as `DrainThread` orders: the drain
 * thread's whole work.
 *
 * @param options.keepMs as of a `Drainer`
 * @param options.retentionDays for which raw clicks are kept; 0 for ever
 */
export function serveDrain(
  port: MessagePort,
  options: {
    writer: ClickWriter
    clock: Clock
    journal: JournalPlace
    progress: DrainProgress
    keepMs: number
    retentionDays: number
  },
): void {
  const { writer, clock, journal, progress, keepMs, retentionDays } = options
  const orphans = new Set<Promise<void>>()
  /** One orphan after the other: many at once would wait for connections until they gave up. */
  const turns = new Turns()
  /** Told of already; they stay for a while yet. */
  const tornJournals = new Set<string>()
  let writing = 0

  const report = (message: DrainReport) => port.postMessage(message)
  const onError = (error: unknown) => report({ kind: 'error', error: cloneable(error) })
  const onDamage = (bytes: number, copy: string | undefined) =>
    report({ kind: 'damage', bytes, copy })
  const shared = { writer, clock, progress, keepMs, onError, onDamage }
  const own = new Drainer({
    ...shared,
    journal,
    writing: () => writing,
    onPosition: (position) => progress.notePosition(position),
  })

  async function maintain(): Promise<void> {
    const today = dayOf(clock.nowMicros())
    try {
      await writer.maintain(today, retentionDays === 0 ? undefined : today - retentionDays)
    } catch (error) {
      onError(error)
    }
  }
  let maintaining = maintain()
  const maintenance = setInterval(() => {
    maintaining = maintain()
    own.recheck()
  }, MAINTAIN_INTERVAL_MS)

  async function takeIn(orphan: JournalPlace): Promise<void> {
    const { id, folder } = orphan
    try {
      // The tail may be a frame of which a copy of the journal has the whole: it is not passed over.
      const last = listSegments(folder).at(-1) ?? 0
      const drainer = new Drainer({
        ...shared,
        journal: orphan,
        writing: () => last,
        onPosition: (position) => report({ kind: 'read', id, position }),
      })
      await drainer.drain()
      const torn = backlogBytes(folder, await writer.findPosition(id))
      if (torn > 0 && !tornJournals.has(id)) onDamage(torn, setAside(orphan, last))
      if (torn > 0) tornJournals.add(id)
      report({ kind: 'taken in', id })
    } catch (error) {
      report({ kind: 'not taken in', id, error: cloneable(error) })
    }
  }

  async function stop(): Promise<void> {
    clearInterval(maintenance)
    writing = Number.POSITIVE_INFINITY
    await own.stop()
    try {
      await own.drain()
    } catch (error) {
      onError(error)
    }
    await Promise.all([...orphans, maintaining])
    await writer.close()
    report({ kind: 'stopped' })
    port.close()
  }

  port.on('message', (order: DrainOrder) => {
    if (order.kind === 'wake') {
      writing = order.writing
      own.wake()
    } else if (order.kind === 'take in') {
      const taking = turns.run(() => takeIn(order.journal)).finally(() => orphans.delete(taking))
      orphans.add(taking)
    } else {
      stop().catch(onError)
    }
  })
}

/** An error that can be sent to another thread: of a class of ours, only these fields would arrive. */
function cloneable(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const { name, message, stack, cause } = error
  const copy = new Error(message, cause === undefined ? {} : { cause: cloneable(cause) })
  return Object.assign(copy, { name, stack })
}
