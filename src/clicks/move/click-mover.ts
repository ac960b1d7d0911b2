import { createHash } from 'node:crypto'
import type { ChangedSubject, DayVersion, MovedDays } from '../store/clickhouse/moved-days.ts'
import type { ClickHistory, Counted, SubjectCounted, SubjectDay } from './click-history.ts'
import { countedIn, differenceOf } from './counted.ts'

/** What is inserted at a time: some ten thousand rows. */
const CHUNK_SUBJECTS = 5_000
const CHUNK_BYTES = 1_000_000

export type MoveProgress = {
  readonly day: number
  readonly daysDone: number
  readonly days: number
  /** Single clicks. */
  readonly clicks: number
}

export type MoveReport = {
  /** Days that were copied, or copied again because they had changed. */
  readonly moved: number
  /** Days that were as they had been copied before. */
  readonly unchanged: number
  /** Days that may still change and are left for a later run. */
  readonly left: number
  /** Single clicks that were copied. */
  readonly clicks: number
}

/** Copies days of clicks to ClickHouse. What is interrupted goes on in the next call, and nothing is counted twice. */
export class ClickMover {
  readonly #source: ClickHistory
  readonly #moved: MovedDays
  readonly #nowMicros: () => number

  constructor(options: {
    readonly source: ClickHistory
    readonly moved: MovedDays
    readonly nowMicros: () => number
  }) {
    this.#source = options.source
    this.#moved = options.moved
    this.#nowMicros = options.nowMicros
  }

  /** @param options.beforeDay days from this one on are left */
  async run(options: {
    readonly beforeDay: number
    readonly signal: AbortSignal
    readonly onProgress: (progress: MoveProgress) => void
  }): Promise<MoveReport> {
    const { beforeDay, signal, onProgress } = options
    const all = await this.#source.days()
    const days = all.filter((day) => day < beforeDay)
    const versions = await this.#moved.versions()
    let [moved, unchanged, clicks] = [0, 0, 0]
    for (const [nth, day] of days.entries()) {
      signal.throwIfAborted()
      const copied = await this.#moveDay(day, versions.get(day) ?? [], signal)
      if (copied === undefined) unchanged += 1
      else {
        moved += 1
        clicks += copied
      }
      onProgress({ day, daysDone: nth + 1, days: days.length, clicks })
    }
    return { moved, unchanged, left: all.length - days.length, clicks }
  }

  /** Returns the number of single clicks that were copied; undefined if the day is as it was copied before. */
  async #moveDay(
    day: number,
    versions: readonly DayVersion[],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let done = versions.findLast(({ isDone }) => isDone)
    let clicks: number | undefined
    const begun = versions.find(({ version }) => version > (done?.version ?? 0))
    if (begun !== undefined) {
      clicks = await this.#addVersion(begun, done, signal)
      done = begun
    }
    if (done !== undefined && done.checksum === (await this.#checksumOf(day))) return clicks
    const fresh = await this.#readVersion(day, done, signal)
    if (fresh === undefined) return clicks
    return (clicks ?? 0) + (await this.#addVersion(fresh, done, signal))
  }

  async #checksumOf(day: number): Promise<string> {
    const hash = createHash('sha256')
    for await (const _page of this.#source.subjects(day, (bytes) => hash.update(bytes))) {
      // Only its bytes are needed.
    }
    return hash.digest('hex')
  }

  /** Writes down what the source has of a day now. Returns undefined for nothing, where it had nothing before. */
  async #readVersion(
    day: number,
    done: DayVersion | undefined,
    signal: AbortSignal,
  ): Promise<DayVersion | undefined> {
    const version = Math.max(this.#nowMicros(), (done?.version ?? 0) + 1)
    const hash = createHash('sha256')
    let chunks = 0
    for await (const chunk of chunksOf(this.#source.subjects(day, (bytes) => hash.update(bytes)))) {
      signal.throwIfAborted()
      const counted = chunk.map((subject) => ({
        ...subject,
        slots: countedIn(subject.data).slots,
      }))
      // What is left of a subject is empty where all of it came back.
      const subjects = counted.filter(({ slots }) => slots.length > 0)
      if (subjects.length === 0) continue
      await this.#moved.addSubjects({ day, version }, chunks, subjects)
      chunks += 1
    }
    if (chunks === 0 && done === undefined) return undefined
    const begun = { day, version, checksum: hash.digest('hex'), chunks, isDone: false }
    await this.#moved.note(begun)
    return begun
  }

  /** Adds to charts what a version has more than the one before, and copies the day's single clicks. */
  async #addVersion(
    version: DayVersion,
    before: DayVersion | undefined,
    signal: AbortSignal,
  ): Promise<number> {
    const { day, chunks } = version
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      signal.throwIfAborted()
      const changed = await this.#moved.changedSubjects(version, chunk, before)
      const token = `move ${day} ${version.version} ${chunk}`
      await this.#moved.addCounts(day, token, changed.map(addedTo))
    }
    const clicks = await this.#moved.replaceClicks(day, this.#source.clicks(day))
    await this.#moved.note({ ...version, isDone: true })
    await this.#moved.forgetOthers(version)
    return clicks
  }
}

const NOTHING: Counted = { slots: [], values: new Map(), visitors: 0 }

function addedTo({ before, after, ...subject }: ChangedSubject): SubjectCounted {
  const old = before === undefined ? NOTHING : countedIn(before)
  return { ...subject, ...differenceOf(old, countedIn(after)) }
}

/** Divides the subjects of a day into chunks that fit in memory when they are decoded. */
async function* chunksOf(
  pages: AsyncIterable<readonly SubjectDay[]>,
): AsyncGenerator<readonly SubjectDay[]> {
  let chunk: SubjectDay[] = []
  let bytes = 0
  for await (const page of pages) {
    for (const subject of page) {
      chunk.push(subject)
      bytes += subject.data.length
      if (chunk.length < CHUNK_SUBJECTS && bytes < CHUNK_BYTES) continue
      yield chunk
      chunk = []
      bytes = 0
    }
  }
  if (chunk.length > 0) yield chunk
}
