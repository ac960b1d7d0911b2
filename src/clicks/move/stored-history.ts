import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { COUNTED_DAYS, type DayPart, SCOPES, wholeDay } from '../store/fold-days.ts'
import type { ClickHistory, SubjectDay } from './click-history.ts'
import { withoutReturned } from './counted.ts'

/** Rows of one query: a few of them have a hundred kilobytes. */
const ROWS_PER_QUERY = 500

/**
 * Reads what the database has besides what came back from a ClickHouse.
 *
 * @param options.origin identifies that ClickHouse; undefined for none
 * @param options.clicks reads the single clicks of a day as the engine keeps them
 */
export function storedHistory(
  db: Kysely<Schema>,
  {
    origin,
    clicks,
  }: { readonly origin: number | undefined; readonly clicks: ClickHistory['clicks'] },
): ClickHistory {
  return {
    async days() {
      const { rows } = await sql<{ day: number }>`${sql.raw(COUNTED_DAYS)}`.execute(db)
      return rows.map(({ day }) => day)
    },

    async *subjects(day, onBytes) {
      const onRow = ({ scope, subject, workspace_id, part, data }: DayPart) => {
        onBytes(Buffer.from(`${scope} ${subject} ${workspace_id} ${part} ${data.length} `))
        onBytes(data)
      }
      const read = async (days: readonly DayPart[][]) => {
        const returned = await findReturned(db, { origin, day }, days)
        for (const row of returned.values()) onRow(row)
        return days.map((rows) => subjectDayOf(rows, returned.get(nameOf(rows[0]))?.data))
      }
      let pending: DayPart[] = []
      for await (const rows of pagesOf(db, day)) {
        for (const row of rows) onRow(row)
        const days = groupBySubject([...pending, ...rows])
        // The parts of the last one may go on in the next page.
        pending = days.pop() ?? []
        yield read(days)
      }
      if (pending.length > 0) yield read([pending])
    },

    clicks,
  }
}

/** Reads the rows of a day in the order of their key. */
async function* pagesOf(db: Kysely<Schema>, day: number): AsyncGenerator<readonly DayPart[]> {
  let after = sql<boolean>`true`
  for (;;) {
    const rows = await db
      .selectFrom('click_days')
      .select(['day', 'scope', 'subject', 'workspace_id', 'part', 'data'])
      .where('day', '=', day)
      .where(after)
      .orderBy('scope')
      .orderBy('subject')
      .orderBy('workspace_id')
      .orderBy('part')
      .limit(ROWS_PER_QUERY)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = sql<boolean>`(scope, subject, workspace_id, part)
      > (${last.scope}, ${last.subject}, ${last.workspace_id}, ${last.part})`
  }
}

/** @param rows in the order of their key */
function groupBySubject(rows: readonly DayPart[]): DayPart[][] {
  const groups: DayPart[][] = []
  for (const row of rows) {
    const last = groups.at(-1)
    const [first] = last ?? []
    const isSame =
      first?.scope === row.scope &&
      first.subject === row.subject &&
      first.workspace_id === row.workspace_id
    if (last !== undefined && isSame) last.push(row)
    else groups.push([row])
  }
  return groups
}

const RETURNED = -1

/** Finds what came back of subjects, in the order of their keys. */
async function findReturned(
  db: Kysely<Schema>,
  { origin, day }: { readonly origin: number | undefined; readonly day: number },
  days: readonly DayPart[][],
): Promise<ReadonlyMap<string, DayPart>> {
  const [[first] = [], [last] = []] = [days.at(0), days.at(-1)]
  if (origin === undefined || first === undefined || last === undefined) return new Map()
  const rows = await db
    .selectFrom('returned_tallies')
    .select(['day', 'scope', 'subject', 'workspace_id', sql.lit(RETURNED).as('part'), 'data'])
    .where('origin', '=', origin)
    .where('day', '=', day)
    .where(sql<boolean>`(scope, subject) >= (${first.scope}, ${first.subject})`)
    .where(sql<boolean>`(scope, subject) <= (${last.scope}, ${last.subject})`)
    .orderBy('scope')
    .orderBy('subject')
    .orderBy('workspace_id')
    .execute()
  return new Map(rows.map((row) => [nameOf(row), row]))
}

function nameOf(row: DayPart | undefined): string {
  return `${row?.scope} ${row?.subject} ${row?.workspace_id}`
}

function subjectDayOf(rows: readonly DayPart[], returned: Uint8Array | undefined): SubjectDay {
  const [first] = rows
  if (first === undefined) throw new RangeError('a day has no rows')
  const { scope, subject, workspace_id } = first
  return {
    scope,
    subject: scope === SCOPES.workspace ? 0 : subject,
    workspaceId: scope === SCOPES.link ? undefined : workspace_id,
    data: withoutReturned(wholeDay(rows), returned),
  }
}
