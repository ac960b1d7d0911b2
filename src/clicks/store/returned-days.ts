import type { Kysely } from 'kysely'
import { workspaceNumber } from '../../storage/event-log.ts'
import type { Schema } from '../../storage/schema.ts'
import {
  CLICK_DIMENSIONS,
  type ClickDimension,
  SPARSE_DIMENSIONS,
  UNKNOWN_VISITOR,
} from '../click.ts'
import type { Counted, Subject } from '../move/click-history.ts'
import { slotsBetween } from '../move/counted.ts'
import { type Counts, type SlotCounts, sumCounts } from '../report/day-of-clicks.ts'
import { SLOTS_PER_DAY } from '../tally/click-day.ts'
import { type DayCounts, decodeDay, encodeDay } from '../tally/day-counts.ts'
import { readTotal } from '../tally/day-format.ts'
import { DayTally } from '../tally/day-tally.ts'
import { VisitorSketch } from '../tally/visitor-sketch.ts'
import { impliedValue } from './clickhouse/schema.ts'
import {
  type ClickRows,
  compareKeys,
  type DayDelta,
  foldDays,
  PARTS,
  SCOPE_KINDS,
  SCOPES,
} from './fold-days.ts'
import type { OwnedClick } from './raw-click-source.ts'

/** What ClickHouse has of a subject on a day. */
export type OwnCounts = Subject &
  Counts & {
    /** Those that were moved there. */
    readonly movedPersons: number
    readonly movedOthers: number
  }

/** What ClickHouse has counted itself of a subject on a day. */
export type OwnSubject = Subject &
  Counted & {
    /** All visitors, or as many as a sketch needs; undefined where only their number is known. */
    readonly seen: readonly number[] | undefined
  }

/** A transaction of the main database. */
type ReturnTransaction = {
  readonly db: Kysely<Schema>
  readonly rows: ClickRows
  /** Records how many clicks of people are added to the charts of links, domains and workspaces. */
  noteCharted(persons: Readonly<Record<keyof typeof SCOPES, number>>): void
}

/** What the engine of the main database does in its own way. */
export type ReturnTarget = {
  transaction<T>(work: (tx: ReturnTransaction) => Promise<T>): Promise<T>
  /** Replaces the single clicks of a day that came from `origin`. Returns how many there are now. */
  replaceClicks(
    origin: number,
    day: number,
    pages: AsyncIterable<readonly OwnedClick[]>,
  ): Promise<number>
  close(): Promise<void>
}

/** What the main database has of a subject on a day. */
export type ReturnedCounts = {
  readonly returned: Counts
  readonly total: Counts
}

type Key = Omit<DayDelta, 'data'>

/** Rows of one insert. */
const ROWS_PER_INSERT = 500

/** Identifies a ClickHouse from which clicks came back, or that has counted some; undefined for another one. */
export async function findOrigin(
  db: Kysely<Schema>,
  own: { origin(known: readonly number[]): Promise<number | undefined> },
): Promise<number | undefined> {
  const rows = await db.selectFrom('returned_days').select('origin').distinct().execute()
  return own.origin(rows.map(({ origin }) => origin))
}

/** Adds what ClickHouse has counted to the charts of the main database, and knows what was added before. */
export class ReturnedDays {
  readonly #target: ReturnTarget
  readonly #origin: number

  /** @param origin identifies the ClickHouse */
  constructor(target: ReturnTarget, origin: number) {
    this.#target = target
    this.#origin = origin
  }

  /** Returns the marks of days that came back. */
  marks(): Promise<ReadonlyMap<number, string>> {
    return this.#target.transaction(async ({ db }) => {
      const rows = await db
        .selectFrom('returned_days')
        .select(['day', 'mark'])
        .where('origin', '=', this.#origin)
        .execute()
      return new Map(rows.map(({ day, mark }) => [day, mark]))
    })
  }

  /** Notes that a day came back, or with an empty mark that it begins to. */
  async note(day: number, mark: string): Promise<void> {
    await this.#target.transaction(({ db }) =>
      db
        .insertInto('returned_days')
        .values({ origin: this.#origin, day, mark })
        .onConflict((conflict) => conflict.columns(['origin', 'day']).doUpdateSet({ mark }))
        .execute(),
    )
  }

  /** Adds what these subjects have more than was added before, unless they were deleted. */
  async add(day: number, subjects: readonly OwnSubject[]): Promise<void> {
    if (subjects.length === 0) return
    await this.#target.transaction(async (tx) => {
      const { db, rows, noteCharted } = tx
      const exists = await existenceOf(db, subjects)
      const keyed = subjects
        .filter(exists)
        .map((own) => ({ own, key: keyOf(day, own) }))
        .sort((a, b) => compareKeys(a.key, b.key))
      const before = await this.#findReturned(
        db,
        keyed.map(({ key }) => key),
      )
      const added = keyed.flatMap(({ own, key }) => {
        const data = before.get(nameOf(key))?.data
        const returned = data === undefined ? NOTHING : decodeDay(data)
        const more = moreThan(own, returned)
        return more === undefined ? [] : [{ key, more, sum: addUp(returned, more) }]
      })
      if (added.length === 0) return
      const deltas = added.map(({ key, more }) => ({ ...key, data: encodeDay(more) }))
      const grown = await rows.appendToDays(deltas)
      await foldDays({ db, rows }, grown)
      await this.#store(db, added)
      const persons = { link: 0, domain: 0, workspace: 0 }
      for (const { key, more } of added) {
        persons[SCOPE_KINDS[key.scope] ?? 'link'] += sumCounts(more.slots).persons
      }
      noteCharted(persons)
    })
  }

  replaceClicks(day: number, pages: AsyncIterable<readonly OwnedClick[]>): Promise<number> {
    return this.#target.replaceClicks(this.#origin, day, pages)
  }

  /** Returns what the main database has of subjects on a day; undefined for one that was deleted. */
  counts(
    day: number,
    subjects: readonly Subject[],
  ): Promise<readonly (ReturnedCounts | undefined)[]> {
    return this.#target.transaction(async ({ db }) => {
      const exists = await existenceOf(db, subjects)
      const keys = subjects.map((subject) => keyOf(day, subject))
      const returned = await this.#findReturned(db, keys)
      const totals = await findTotals(db, keys)
      return subjects.map((subject, nth) => {
        const key = keys[nth]
        if (key === undefined || !exists(subject)) return undefined
        const name = nameOf(key)
        return { returned: returned.get(name) ?? NO_COUNTS, total: totals.get(name) ?? NO_COUNTS }
      })
    })
  }

  async #findReturned(db: Kysely<Schema>, keys: readonly Key[]) {
    const found = new Map<string, Counts & { readonly data: Uint8Array }>()
    for (const range of rangesOf(keys)) {
      const rows = await db
        .selectFrom('returned_tallies')
        .select(['day', 'scope', 'subject', 'workspace_id', 'persons', 'others', 'data'])
        .where('origin', '=', this.#origin)
        .where('day', '=', range.day)
        .where('scope', '=', range.scope)
        .where('subject', '>=', range.from)
        .where('subject', '<=', range.to)
        .execute()
      for (const row of rows) found.set(nameOf(row), row)
    }
    return found
  }

  async #store(
    db: Kysely<Schema>,
    added: readonly { readonly key: Key; readonly sum: DayCounts }[],
  ): Promise<void> {
    const rows = added.map(({ key, sum }) => ({
      ...key,
      origin: this.#origin,
      ...sumCounts(sum.slots),
      data: encodeDay(sum),
    }))
    for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
      await db
        .insertInto('returned_tallies')
        .values(rows.slice(start, start + ROWS_PER_INSERT))
        .onConflict((conflict) =>
          conflict
            .columns(['day', 'scope', 'subject', 'workspace_id', 'origin'])
            .doUpdateSet((eb) => ({
              persons: eb.ref('excluded.persons'),
              others: eb.ref('excluded.others'),
              data: eb.ref('excluded.data'),
            })),
        )
        .execute()
    }
  }
}

const NO_COUNTS: Counts = { persons: 0, others: 0 }
const NOTHING: DayCounts = { slots: [], values: new Map(), visitors: new VisitorSketch() }

function keyOf(day: number, { scope, subject, workspaceId = '' }: Subject): Key {
  const number = scope === SCOPES.workspace ? workspaceNumber(workspaceId) : subject
  return { day, scope, subject: number, workspace_id: workspaceId }
}

function nameOf({ scope, subject, workspace_id }: Omit<Key, 'day'>): string {
  return `${scope} ${subject} ${workspace_id}`
}

type Range = Pick<Key, 'day' | 'scope'> & { from: number; to: number }

/** Returns a range of subjects for each scope: a statement with a parameter for each takes long to parse. */
function rangesOf(keys: readonly Key[]): readonly Range[] {
  const ranges = new Map<number, Range>()
  for (const { day, scope, subject } of keys) {
    const range = ranges.get(scope) ?? { day, scope, from: subject, to: subject }
    range.from = Math.min(range.from, subject)
    range.to = Math.max(range.to, subject)
    ranges.set(scope, range)
  }
  return [...ranges.values()]
}

/** Returns whether the link or the workspace of a subject exists. */
async function existenceOf(
  db: Kysely<Schema>,
  subjects: readonly Subject[],
): Promise<(subject: Subject) => boolean> {
  const linkSeqs = subjects
    .filter(({ scope }) => scope === SCOPES.link)
    .map(({ subject }) => subject)
  const links = await workspacesOfLinks(db, linkSeqs)
  const ids = await existingWorkspaces(db)
  return ({ scope, subject, workspaceId = '' }) =>
    scope === SCOPES.link ? links.has(subject) : ids.has(workspaceId)
}

/** Returns the workspaces that are not deleted. The row of one that is goes last, long after its clicks. */
export async function existingWorkspaces(db: Kysely<Schema>): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('workspaces')
    .select('id')
    .where('deleted_at', 'is', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Returns the workspaces of links, without those that were deleted. */
export async function workspacesOfLinks(
  db: Kysely<Schema>,
  linkSeqs: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (linkSeqs.length === 0) return new Map()
  const rows = await db
    .selectFrom('links')
    .select(['seq', 'workspace_id'])
    .where('seq', 'in', linkSeqs)
    .execute()
  return new Map(rows.map(({ seq, workspace_id }) => [seq, workspace_id]))
}

/** Shared scratch: cleared before each use, and never held across an `await`. */
const tally = new DayTally()

/** Adds up the charts of subjects. */
async function findTotals(
  db: Kysely<Schema>,
  keys: readonly Key[],
): Promise<ReadonlyMap<string, Counts>> {
  const totals = new Map<string, Counts>()
  for (const { day, scope, from, to } of rangesOf(keys)) {
    const rows = await db
      .selectFrom('click_days')
      .select(['scope', 'subject', 'workspace_id', 'part', 'data'])
      .where('day', '=', day)
      .where('scope', '=', scope)
      .where('subject', '>=', from)
      .where('subject', '<=', to)
      .where('part', 'in', [PARTS.recent, PARTS.total])
      .execute()
    for (const row of rows) {
      const name = nameOf(row)
      const { persons, others } = totals.get(name) ?? NO_COUNTS
      const counts = countsIn(row.part, row.data)
      totals.set(name, { persons: persons + counts.persons, others: others + counts.others })
    }
  }
  return totals
}

function countsIn(part: number, data: Uint8Array): Counts {
  if (part === PARTS.total) return readTotal(data, false)
  tally.clear()
  tally.addChunks(data)
  return tally.total(false)
}

/**
 * Returns what a subject has more than what came back of it; undefined for nothing. Values have no more clicks together
 * than the day.
 */
function moreThan(own: OwnSubject, returned: DayCounts): DayCounts | undefined {
  const slots = more(returned.slots, own.slots)
  if (slots.length === 0) return undefined
  left.clear()
  const values = new Map<ClickDimension, ReadonlyMap<string, readonly SlotCounts[]>>()
  for (const dimension of CLICK_DIMENSIONS) {
    const implied = impliedValue(dimension)
    const known = returned.values.get(dimension)
    const ofDimension = new Map<string, readonly SlotCounts[]>()
    left.begin(slots)
    for (const [value, counts] of own.values.get(dimension) ?? []) {
      if (value === implied) continue
      const taken = left.take(more(known?.get(value), counts))
      if (taken.length > 0) ofDimension.set(value, taken)
    }
    if (!IS_SPARSE.has(dimension)) {
      const rest = left.take(slots)
      if (rest.length > 0) ofDimension.set(implied, rest)
    }
    if (ofDimension.size > 0) values.set(dimension, ofDimension)
  }
  return { slots, values, visitors: visitorsOf(own, returned) }
}

const IS_SPARSE: ReadonlySet<ClickDimension> = new Set(SPARSE_DIMENSIONS)

/** Returns how much the second has more of each quarter hour. */
function more(before: readonly SlotCounts[] | undefined, after: readonly SlotCounts[]) {
  if (before === undefined || before.length === 0) return after
  return slotsBetween(before, after)
    .map(({ slot, persons, others }) => ({
      slot,
      persons: Math.max(0, persons),
      others: Math.max(0, others),
    }))
    .filter(({ persons, others }) => persons + others > 0)
}

/** What quarter hours have left. */
class SlotsLeft {
  readonly #persons = new Float64Array(SLOTS_PER_DAY)
  readonly #others = new Float64Array(SLOTS_PER_DAY)

  begin(slots: readonly SlotCounts[]): void {
    for (const { slot, persons, others } of slots) {
      this.#persons[slot] = persons
      this.#others[slot] = others
    }
  }

  /** Takes as much of the wanted as is left. */
  take(wanted: readonly SlotCounts[]): readonly SlotCounts[] {
    const taken: SlotCounts[] = []
    for (const counts of wanted) {
      const { slot } = counts
      const [ofPersons, ofOthers] = [this.#persons[slot] ?? 0, this.#others[slot] ?? 0]
      const persons = Math.min(counts.persons, ofPersons)
      const others = Math.min(counts.others, ofOthers)
      this.#persons[slot] = ofPersons - persons
      this.#others[slot] = ofOthers - others
      if (persons + others === 0) continue
      const isAll = persons === counts.persons && others === counts.others
      taken.push(isAll ? counts : { slot, persons, others })
    }
    return taken
  }

  clear(): void {
    this.#persons.fill(0)
    this.#others.fill(0)
  }
}

/** Shared scratch: cleared before each subject. */
const left = new SlotsLeft()

/** Where only a number of visitors is known, as many are made up. */
function visitorsOf(
  { visitors, seen, ...subject }: OwnSubject,
  returned: DayCounts,
): VisitorSketch {
  const sketch = new VisitorSketch()
  if (visitors === null) sketch.add(UNKNOWN_VISITOR)
  for (const visitor of seen ?? []) if (visitor !== UNKNOWN_VISITOR) sketch.add(visitor)
  if (seen === undefined) {
    const known = returned.visitors.count() ?? 0
    for (let nth = known; nth < (visitors ?? 0); nth += 1) sketch.add(madeUpVisitor(subject, nth))
  }
  return sketch
}

/** Returns a number like the hash of a visitor, always the same (splitmix64). */
function madeUpVisitor(
  { scope, subject }: Pick<Subject, 'scope' | 'subject'>,
  nth: number,
): number {
  const mask = (1n << 64n) - 1n
  let z = BigInt(nth + 1) * 0x9e3779b97f4a7c15n + BigInt(subject * 4 + scope) * 0xd1b54a32d192ed03n
  z &= mask
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask
  return Number((z ^ (z >> 31n)) >> 11n) || 1
}

function addUp(one: DayCounts, other: DayCounts): DayCounts {
  if (one === NOTHING) return other
  const visitors = new VisitorSketch()
  visitors.merge(one.visitors)
  visitors.merge(other.visitors)
  const values = CLICK_DIMENSIONS.map((dimension) => {
    const sums = new Map(one.values.get(dimension))
    for (const [value, counts] of other.values.get(dimension) ?? []) {
      sums.set(value, addSlots(sums.get(value) ?? [], counts))
    }
    return [dimension, sums] as const
  })
  return { slots: addSlots(one.slots, other.slots), values: new Map(values), visitors }
}

function addSlots(one: readonly SlotCounts[], other: readonly SlotCounts[]): readonly SlotCounts[] {
  const bySlot = new Map(one.map((counts) => [counts.slot, counts]))
  for (const { slot, persons, others } of other) {
    const sum = bySlot.get(slot) ?? NO_COUNTS
    bySlot.set(slot, { slot, persons: sum.persons + persons, others: sum.others + others })
  }
  return [...bySlot.values()].sort((a, b) => a.slot - b.slot)
}
