import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import type { ClickDimension } from '../../click.ts'
import type { Subject } from '../../move/click-history.ts'
import { countedIn, differenceOf } from '../../move/counted.ts'
import type { SlotCounts } from '../../report/day-of-clicks.ts'
import { startOfDay } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'
import type { OwnedClick } from '../raw-click-source.ts'
import type { OwnCounts, OwnSubject } from '../returned-days.ts'
import { LATEST } from './moved-days.ts'
import { findWindows, KEPT_ROW, rawClickRow, type StoredClick } from './raw-clicks.ts'
import { FOLDED_BEFORE, linkDaysOf, NO_WORKSPACE, SINGLE_CLICKS } from './schema.ts'

/** A day of which ClickHouse has counted clicks itself. */
export type OwnDay = {
  readonly day: number
  /** The version that was moved here; 0 for none. */
  readonly version: number
  /** Changes with the day's counts. */
  readonly mark: string
}

type SubjectRow = { readonly scope: number; readonly subject: number; readonly workspace: string }
type SlotTuple = readonly [slot: number, persons: number, others: number]
type ValueTuple = readonly [dimension: ClickDimension, value: string, ...SlotTuple]

/** Subjects of one page. */
const TOTALS_PER_QUERY = 5_000
const SAFE_INTEGERS = '9007199254740991'
/** A visitor's number modulo this selects the register of a sketch (tally/visitor-sketch.ts). */
const REGISTERS = 4_096
/** So many of each register, besides the lowest, are all visitors where a sketch has each of them. */
const VISITORS_PER_REGISTER = 16

/** The day before which days are folded, and how many steps of folds are recorded (fold-clicks.ts). */
type FoldState = { readonly folded: number; readonly steps: number }

/** Reads what ClickHouse has counted itself, without what was moved there. */
export class OwnDays {
  readonly #db: ClickHouse

  constructor(db: ClickHouse) {
    this.#db = db
  }

  /**
   * Identifies this ClickHouse by a block that it has counted, also after it was restored from a backup; undefined while it
   * has counted nothing.
   *
   * @param known those that are known: one of these is returned if it is this one, else the first block
   */
  async origin(known: readonly number[]): Promise<number | undefined> {
    const [found] = await this.#db.rows<{ readonly origin: number }>(
      `select bitAnd(cityHash64(journal, from_segment, from_offset), ${SAFE_INTEGERS}) as origin
      from click_blocks
      order by origin in {known:Array(UInt64)} desc, begun_at, journal, from_segment, from_offset limit 1`,
      { params: { known } },
    )
    return found?.origin
  }

  /** Returns the days on which it has counted clicks itself, ascending. */
  async days(): Promise<readonly OwnDay[]> {
    const weightOf = (of: number) => `cityHash64(scope, subject, workspace, slot, ${of})`
    const rows = await this.#db.rows<OwnDay>(
      `select day, max(moved) as version, concat(toString(sum(weight)), ' ', toString(version)) as mark
      from (
        select day, toInt64(persons) + toInt64(others) as own,
          persons * ${weightOf(0)} + others * ${weightOf(1)} as weight, toUInt64(0) as moved
        from click_counts
        union all
        select day, -toInt64(persons) - toInt64(others), 0, version
        from moved_tallies where (day, version) in ${LATEST})
      group by day having sum(own) != 0 order by day`,
    )
    return rows.map(({ day, version, mark }) => ({ day, version, mark }))
  }

  /** Reads the sums of a day's subjects that have clicks of its own, in pages. */
  async *totals({ day, version }: OwnDay): AsyncGenerator<readonly OwnCounts[]> {
    let last: SubjectRow | undefined
    do {
      const rest = `day = {day:Int32} and (scope, subject, workspace) > ({scope:UInt8}, {subject:UInt64}, {workspace:UUID})`
      const params = { day, version, ...(last ?? BEFORE_ALL) }
      const rows: (SubjectRow & Omit<OwnCounts, keyof Subject>)[] = await this.#db.rows(
        `select scope, subject, workspace, sum(persons) as persons, sum(others) as others,
          sum(moved_persons) as movedPersons, sum(moved_others) as movedOthers
        from (
          select scope, subject, workspace, toInt64(persons) as persons, toInt64(others) as others,
            toInt64(0) as moved_persons, toInt64(0) as moved_others
          from click_counts where ${rest}
          union all
          select scope, subject, workspace, toInt64(0), toInt64(0), toInt64(persons), toInt64(others)
          from moved_tallies where ${rest} and version = {version:UInt64})
        group by scope, subject, workspace order by scope, subject, workspace
        limit ${TOTALS_PER_QUERY}`,
        { params },
      )
      last = rows.length < TOTALS_PER_QUERY ? undefined : rows.at(-1)
      yield rows
        .filter((row) => row.persons !== row.movedPersons || row.others !== row.movedOthers)
        .map(({ workspace, ...row }) => ({ ...row, workspaceId: workspaceOf(workspace) }))
    } while (last !== undefined)
  }

  /**
   * Reads what was counted of subjects.
   *
   * @param subjects of one scope
   * @param workspaceIds those that these links are of, or these subjects
   */
  async counted(
    { day, version }: OwnDay,
    subjects: readonly OwnCounts[],
    workspaceIds: readonly string[],
  ): Promise<readonly OwnSubject[]> {
    const [first] = subjects
    if (first === undefined) return []
    for (;;) {
      const fold = await this.#foldState()
      const query = new SubjectQuery(this.#db, {
        day,
        version,
        fold,
        scope: first.scope,
        subjects: [...new Set(subjects.map(({ subject }) => subject))],
        workspaceIds,
      })
      const found = await query.read(subjects)
      const now = await this.#foldState()
      if (now.folded === fold.folded && now.steps === fold.steps) return found
    }
  }

  /** Reads the single clicks of a day that exports have, in pages. */
  async *clicks(day: number): AsyncGenerator<readonly OwnedClick[]> {
    const isOwn = 'clicks.count > 0 and kept > 0 and at >= {from:Int64} and at < {to:Int64}'
    const params = { from: startOfDay(day), to: startOfDay(day + 1) }
    for (const [from, to] of await findWindows(this.#db, isOwn, params)) {
      const rows = await this.#db.rows<StoredClick & { readonly workspace: string }>(
        `select workspace, ${KEPT_ROW} from clicks
        where ${isOwn} order by at, link`,
        { params: { from, to } },
      )
      yield rows.map(({ workspace, ...row }) => ({ ...rawClickRow(row), workspace_id: workspace }))
    }
  }

  async #foldState(): Promise<FoldState> {
    const [state] = await this.#db.rows<FoldState>(
      `select ${FOLDED_BEFORE} as folded, (select count() from click_folds where step != 'begun') as steps`,
    )
    if (state === undefined) throw new Error('ClickHouse answered with no row')
    return state
  }
}

const BEFORE_ALL: SubjectRow = { scope: 0, subject: 0, workspace: NO_WORKSPACE }

function workspaceOf(workspace: string): string | undefined {
  return workspace === NO_WORKSPACE ? undefined : workspace
}

type Seen = {
  readonly persons: number
  readonly visitors: readonly number[]
  readonly unknown: number
}

/** Reads subjects of one scope on one day. */
class SubjectQuery {
  readonly #db: ClickHouse
  readonly #scope: number
  readonly #isFolded: boolean
  readonly #params: Readonly<Record<string, unknown>>
  readonly #clicks: string

  constructor(
    db: ClickHouse,
    options: {
      readonly day: number
      readonly version: number
      readonly fold: FoldState
      readonly scope: number
      readonly subjects: readonly number[]
      readonly workspaceIds: readonly string[]
    },
  ) {
    const { day, version, fold, scope, subjects, workspaceIds } = options
    this.#db = db
    this.#scope = scope
    this.#isFolded = day < fold.folded
    const isLink = scope === SCOPES.link
    this.#params = {
      day,
      version,
      scope,
      subjects,
      workspaces: isLink ? [NO_WORKSPACE] : workspaceIds,
      owners: workspaceIds,
      from: startOfDay(day),
      to: startOfDay(day + 1),
    }
    const column = isLink ? 'link' : 'keyspace'
    const among = scope === SCOPES.workspace ? '' : `and ${column} in {subjects:Array(UInt64)}`
    this.#clicks = `clicks where workspace in {owners:Array(UUID)} ${among} and ${SINGLE_CLICKS}
      and at >= {from:Int64} and at < {to:Int64}`
  }

  async read(subjects: readonly OwnCounts[]): Promise<readonly OwnSubject[]> {
    const [slots, values, visitors, seen, moved] = await Promise.all([
      this.#slots(),
      this.#scope === SCOPES.link ? this.#linkValues() : this.#values(),
      this.#visitors(),
      this.#scope === SCOPES.link ? this.#linkVisitors() : this.#ownerVisitors(),
      subjects.some((each) => each.movedPersons + each.movedOthers > 0) ? this.#moved() : NONE,
    ])
    return subjects.map((subject): OwnSubject => {
      const name = nameOf(subject)
      const found = visitors.get(name)
      const single = seen.get(name)
      // Of links, those of single clicks are in no sum.
      const extra = this.#scope === SCOPES.link ? (single?.visitors.length ?? 0) : 0
      const all = {
        slots: slots.get(name) ?? [],
        values: byDimension(values.get(name) ?? []),
        visitors: found?.unknown || single?.unknown ? null : (found?.visitors ?? 0) + extra,
      }
      const data = moved.get(name)
      const before = data === undefined ? NOTHING : countedIn(data)
      const own = data === undefined ? all : differenceOf(before, all)
      const persons = subject.persons - subject.movedPersons
      return {
        ...subject,
        slots: own.slots,
        values: own.values,
        visitors:
          all.visitors === null && before.visitors !== null ? null : Math.max(0, own.visitors ?? 0),
        seen: single?.persons === persons ? single.visitors : undefined,
      }
    })
  }

  async #slots(): Promise<ReadonlyMap<string, readonly SlotCounts[]>> {
    const rows = await this.#db.rows<SubjectRow & { slots: SlotTuple[] }>(
      `select scope, subject, workspace, groupArray((slot, persons, others)) as slots
      from (
        select scope, subject, workspace, slot, sum(persons) as persons, sum(others) as others
        from click_counts where ${OF_SUBJECTS} group by scope, subject, workspace, slot)
      group by scope, subject, workspace`,
      { params: this.#params },
    )
    return new Map(rows.map((row) => [nameOfRow(row), row.slots.map(slotCounts)]))
  }

  async #values(): Promise<ReadonlyMap<string, readonly ValueTuple[]>> {
    const rows = await this.#db.rows<SubjectRow & { counted: ValueTuple[] }>(
      `select scope, subject, workspace, groupArray((dimension, value, slot, persons, others)) as counted
      from (
        select scope, subject, workspace, dimension, value, slot, sum(persons) as persons, sum(others) as others
        from click_values where ${OF_SUBJECTS}
        group by scope, subject, workspace, dimension, value, slot
        having persons != 0 or others != 0)
      group by scope, subject, workspace`,
      { params: this.#params },
    )
    return new Map(rows.map((row) => [nameOfRow(row), row.counted]))
  }

  async #linkValues(): Promise<ReadonlyMap<string, readonly ValueTuple[]>> {
    const columns = 'link, slot, dimensions, values, persons, others'
    const stored = `select ${columns} from link_days where link in {subjects:Array(UInt64)}
      and day = {day:Int32} ${this.#isFolded ? '' : 'and folded = 0'}`
    const rows = await this.#db.rows<{ link: number; counted: ValueTuple[] }>(
      `select link, groupArray((dimension, value, slot, persons, others)) as counted
      from (
        select link, entry.1 as dimension, entry.2 as value, slot, sum(entry.3) as persons, sum(entry.4) as others
        from (
          select link, slot, arrayJoin(arrayZip(dimensions, values, persons, others)) as entry
          from (${stored} union all select ${columns} from (${linkDaysOf(this.#clicks, 1)})))
        group by link, dimension, value, slot
        having persons != 0 or others != 0)
      group by link`,
      { params: this.#params },
    )
    return new Map(rows.map(({ link, counted }) => [nameOf(ofLink(link)), counted]))
  }

  /** The numbers that are stored. */
  async #visitors(): Promise<ReadonlyMap<string, { visitors: number; unknown: number }>> {
    const rows = await this.#db.rows<SubjectRow & { visitors: number; unknown: number }>(
      `select scope, subject, workspace, toInt64(uniqCombined64Merge(12)(visitors) + sum(known)) as visitors,
        max(are_unknown) as unknown
      from (
        select scope, subject, workspace, visitors, known, are_unknown
        from click_visitors where ${OF_SUBJECTS} ${this.#isFolded ? '' : 'and folded = 0'})
      group by scope, subject, workspace`,
      { params: this.#params },
    )
    return new Map(rows.map((row) => [nameOfRow(row), row]))
  }

  async #linkVisitors(): Promise<ReadonlyMap<string, Seen>> {
    const rows = await this.#db.rows<Seen & { link: number }>(
      `select link, sum(count) as persons, groupUniqArrayIf(visitor, visitor != 0) as visitors,
        max(visitor = 0) as unknown
      from ${this.#clicks} and flags = 0 group by link`,
      { params: this.#params },
    )
    return new Map(rows.map(({ link, ...row }) => [nameOf(ofLink(link)), row]))
  }

  /** Of many visitors, those that a sketch would have the same registers of. */
  async #ownerVisitors(): Promise<ReadonlyMap<string, Seen>> {
    const subject = this.#scope === SCOPES.domain ? 'keyspace' : 'toUInt64(0)'
    const rows = await this.#db.rows<SubjectRow & Seen>(
      `select toUInt8(${this.#scope}) as scope, subject, workspace, sum(clicks) as persons,
        groupArrayArray(found) as visitors, max(is_unknown) as unknown
      from (
        select ${subject} as subject, workspace, sum(count) as clicks, max(visitor = 0) as is_unknown,
          arrayConcat([minIf(visitor, visitor != 0)],
            groupUniqArrayIf(${VISITORS_PER_REGISTER})(visitor, visitor != 0)) as found
        from ${this.#clicks} and flags = 0
        group by subject, workspace, visitor % ${REGISTERS})
      group by subject, workspace`,
      { params: this.#params },
    )
    return new Map(rows.map((row) => [nameOfRow(row), row]))
  }

  async #moved(): Promise<ReadonlyMap<string, Uint8Array>> {
    const rows = await this.#db.rows<SubjectRow & { data: string }>(
      `select scope, subject, workspace, data from moved_tallies
      where ${OF_SUBJECTS} and version = {version:UInt64}`,
      { params: this.#params },
    )
    return new Map(rows.map((row) => [nameOfRow(row), Buffer.from(row.data, 'base64')]))
  }
}

const OF_SUBJECTS = `day = {day:Int32} and scope = {scope:UInt8} and subject in {subjects:Array(UInt64)}
  and workspace in {workspaces:Array(UUID)}`
const NONE: ReadonlyMap<string, Uint8Array> = new Map()
const NOTHING = { slots: [], values: new Map(), visitors: 0 }

function ofLink(link: number): Subject {
  return { scope: SCOPES.link, subject: link, workspaceId: undefined }
}

function nameOf({ scope, subject, workspaceId = '' }: Subject): string {
  return `${scope} ${subject} ${workspaceId}`
}

function nameOfRow({ workspace, ...row }: SubjectRow): string {
  return nameOf({ ...row, workspaceId: workspaceOf(workspace) })
}

function slotCounts([slot, persons, others]: SlotTuple): SlotCounts {
  return { slot, persons, others }
}

function byDimension(counted: readonly ValueTuple[]) {
  const values = new Map<ClickDimension, Map<string, SlotCounts[]>>()
  for (const [dimension, value, slot, persons, others] of counted) {
    const ofDimension = values.getOrInsertComputed(dimension, () => new Map())
    const slots = ofDimension.get(value)
    if (slots === undefined) ofDimension.set(value, [{ slot, persons, others }])
    else slots.push({ slot, persons, others })
  }
  return values
}
