import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { COUNTED_DAYS, type DayPart, SCOPES, wholeDay } from '../store/fold-days.ts'
import type { ClickHistory, SubjectDay } from './click-history.ts'

/** Rows of one query: a few of them have a hundred kilobytes. */
const ROWS_PER_QUERY = 500

/** @param clicks reads the single clicks of a day as the engine keeps them */
export function storedHistory(db: Kysely<Schema>, clicks: ClickHistory['clicks']): ClickHistory {
  return {
    async days() {
      const { rows } = await sql<{ day: number }>`${sql.raw(COUNTED_DAYS)}`.execute(db)
      return rows.map(({ day }) => day)
    },

    async *subjects(day, onBytes) {
      let pending: DayPart[] = []
      for await (const rows of pagesOf(db, day)) {
        for (const { scope, subject, workspace_id, part, data } of rows) {
          onBytes(Buffer.from(`${scope} ${subject} ${workspace_id} ${part} ${data.length} `))
          onBytes(data)
        }
        const days = groupBySubject([...pending, ...rows])
        // The parts of the last one may go on in the next page.
        pending = days.pop() ?? []
        yield days.map(subjectDayOf)
      }
      if (pending.length > 0) yield [subjectDayOf(pending)]
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

function subjectDayOf(rows: readonly DayPart[]): SubjectDay {
  const [first] = rows
  if (first === undefined) throw new RangeError('a day has no rows')
  const { scope, subject, workspace_id } = first
  return {
    scope,
    subject: scope === SCOPES.workspace ? 0 : subject,
    workspaceId: scope === SCOPES.link ? undefined : workspace_id,
    data: wholeDay(rows),
  }
}
