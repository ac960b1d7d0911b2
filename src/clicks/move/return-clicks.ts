import { MoveRun } from '../store/clickhouse/move-run.ts'
import type { Difference } from '../store/clickhouse/moved-days.ts'
import { type OwnDay, OwnDays } from '../store/clickhouse/own-days.ts'
import { SCOPES } from '../store/fold-days.ts'
import {
  existingWorkspaces,
  findOrigin,
  type OwnCounts,
  ReturnedDays,
  type ReturnTarget,
  workspacesOfLinks,
} from '../store/returned-days.ts'
import { dayOf } from '../tally/click-day.ts'
import { type MoveOptions, type MoveResult, nameAll } from './move-clicks.ts'

/** What one transaction adds: about a fifth of a second, in which the service's batches wait. */
const CHUNK_SUBJECTS = 2_500
const CHUNK_CLICKS = 50_000
/** Clicks may be counted while both sides are compared, so what differs is read again. */
const ROUNDS = 3
const DIFFERENCES_MAX = 1_000

/**
 * Adds the clicks that ClickHouse has counted itself to the main database, and compares both.
 *
 * @param options.hasSwitched whether the service counts in the main database: then all days come back, otherwise only those
 *   that have ended for long enough
 * @param options.oldestDay single clicks of earlier days are not kept
 */
export async function returnClicks(
  options: Omit<MoveOptions, 'source'> & {
    readonly target: ReturnTarget
    readonly oldestDay: number
  },
): Promise<MoveResult> {
  const { db, clickhouse, hasSwitched, nowMicros, onWait } = options
  const run = new MoveRun(clickhouse)
  await run.begin(onWait, options.signal)
  try {
    const own = new OwnDays(clickhouse)
    const origin = await findOrigin(db, own)
    if (origin === undefined) return NOTHING
    const returned = new ReturnedDays(options.target, origin)
    const signal = AbortSignal.any([options.signal, run.signal])
    const beforeDay = hasSwitched ? Number.POSITIVE_INFINITY : dayOf(nowMicros()) - 1
    const returner = new ClickReturner({ ...options, own, returned, signal, beforeDay })
    const report = await returner.run()
    return { ...report, differences: await nameAll(db, report.differences) }
  } finally {
    await run.end()
  }
}

const NOTHING: MoveResult = { moved: 0, unchanged: 0, left: 0, clicks: 0, differences: [] }

type ReturnerOptions = Pick<MoveOptions, 'db' | 'onProgress' | 'signal'> & {
  readonly own: OwnDays
  readonly returned: ReturnedDays
  readonly beforeDay: number
  readonly oldestDay: number
}

class ClickReturner {
  readonly #options: ReturnerOptions
  /** The single clicks of each day that came back. */
  readonly #clicks = new Map<number, number>()

  constructor(options: ReturnerOptions) {
    this.#options = options
  }

  async run() {
    const { own, beforeDay } = this.#options
    for (let round = 1; ; round += 1) {
      const all = await own.days()
      const days = all.filter(({ day }) => day < beforeDay)
      await this.#returnDays(days)
      const differences = await this.#compare(days)
      if (differences.length > 0 && round < ROUNDS) continue
      const moved = this.#clicks.size
      return {
        moved,
        unchanged: days.length - moved,
        left: all.length - days.length,
        clicks: this.#sumOfClicks(),
        differences,
      }
    }
  }

  async #returnDays(days: readonly OwnDay[]): Promise<void> {
    const { returned, onProgress, signal } = this.#options
    const marks = await returned.marks()
    for (const [nth, day] of days.entries()) {
      signal.throwIfAborted()
      if (marks.get(day.day) !== day.mark) await this.#returnDay(day)
      const clicks = this.#sumOfClicks()
      onProgress({ day: day.day, daysDone: nth + 1, days: days.length, clicks })
    }
  }

  async #returnDay(day: OwnDay): Promise<void> {
    const { own, returned, oldestDay, signal } = this.#options
    // From here on this ClickHouse is known.
    await returned.note(day.day, '')
    for await (const page of own.totals(day)) {
      for (const chunk of chunksOf(page)) {
        signal.throwIfAborted()
        const { existing, workspaceIds } = await this.#existing(chunk)
        await returned.add(day.day, await own.counted(day, existing, workspaceIds))
      }
    }
    const isKept = day.day >= oldestDay
    const clicks = isKept ? await returned.replaceClicks(day.day, this.#singleClicks(day.day)) : 0
    await returned.note(day.day, day.mark)
    this.#clicks.set(day.day, clicks)
  }

  /** Those of links that exist, and the workspaces of all. */
  async #existing(chunk: readonly OwnCounts[]) {
    const linkSeqs = chunk
      .filter(({ scope }) => scope === SCOPES.link)
      .map(({ subject }) => subject)
    const ofLinks = await workspacesOfLinks(this.#options.db, linkSeqs)
    const existing = chunk.filter(
      ({ scope, subject }) => scope !== SCOPES.link || ofLinks.has(subject),
    )
    const workspaceIds = [
      ...new Set([...ofLinks.values(), ...chunk.flatMap(({ workspaceId }) => workspaceId ?? [])]),
    ]
    return { existing, workspaceIds }
  }

  async *#singleClicks(day: number) {
    const { db, own, signal } = this.#options
    for await (const page of own.clicks(day)) {
      signal.throwIfAborted()
      // One may be deleted while the day is read.
      const existing = await existingWorkspaces(db)
      yield page.filter(({ workspace_id }) => existing.has(workspace_id))
    }
  }

  async #compare(days: readonly OwnDay[]): Promise<readonly Difference[]> {
    const { own, returned, signal } = this.#options
    const found: Difference[] = []
    for (const day of days) {
      for await (const page of own.totals(day)) {
        signal.throwIfAborted()
        const counts = await returned.counts(day.day, page)
        for (const [nth, subject] of page.entries()) {
          const inDatabase = counts[nth]
          if (inDatabase === undefined || found.length >= DIFFERENCES_MAX) continue
          const difference = differenceOf(subject, inDatabase)
          if (difference !== undefined) found.push({ ...subject, day: day.day, ...difference })
        }
      }
    }
    return found
  }

  #sumOfClicks(): number {
    return this.#clicks.values().reduce((sum, clicks) => sum + clicks, 0)
  }
}

type InDatabase = Exclude<Awaited<ReturnType<ReturnedDays['counts']>>[number], undefined>

/** Compares what came back, and then all that both have: the database may have clicks that it has counted since. */
function differenceOf(
  { persons, others, movedPersons, movedOthers }: OwnCounts,
  { returned, total }: InDatabase,
): Pick<Difference, 'source' | 'target'> | undefined {
  const cameBack =
    returned.persons === persons - movedPersons && returned.others === others - movedOthers
  if (!cameBack) {
    return {
      source: persons + others - movedPersons - movedOthers,
      target: returned.persons + returned.others,
    }
  }
  if (total.persons >= persons && total.others >= others) return undefined
  return { source: persons + others, target: total.persons + total.others }
}

/** Divides subjects into chunks of one scope. */
function* chunksOf(page: readonly OwnCounts[]): Generator<readonly OwnCounts[]> {
  let chunk: OwnCounts[] = []
  let clicks = 0
  for (const subject of page) {
    const isFull = chunk.length >= CHUNK_SUBJECTS || clicks >= CHUNK_CLICKS
    if (chunk.length > 0 && (isFull || chunk[0]?.scope !== subject.scope)) {
      yield chunk
      chunk = []
      clicks = 0
    }
    chunk.push(subject)
    clicks += subject.persons + subject.others
  }
  if (chunk.length > 0) yield chunk
}
