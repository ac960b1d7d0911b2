import type { Kysely } from 'kysely'
import type { ClickHouse } from '../../storage/clickhouse/clickhouse.ts'
import type { Schema } from '../../storage/schema.ts'
import { eraseClicks } from '../store/clickhouse/erase-clicks.ts'
import { MoveRun } from '../store/clickhouse/move-run.ts'
import { type Difference, MovedDays } from '../store/clickhouse/moved-days.ts'
import { SCOPE_KINDS, SCOPES } from '../store/fold-days.ts'
import { dayOf } from '../tally/click-day.ts'
import type { ClickHistory } from './click-history.ts'
import { ClickMover, type MoveProgress, type MoveReport } from './click-mover.ts'
import { eraseMissing } from './erase-missing.ts'

/** Clicks that are being inserted may be in some tables only, so what differs for a moment is compared again. */
const COMPARISONS = 3

export type MoveResult = MoveReport & {
  /** What both sides have of a subject and a day where they are not equal. */
  readonly differences: readonly NamedDifference[]
}

type NamedDifference = Pick<Difference, 'day' | 'source' | 'target'> & {
  readonly kind: keyof typeof SCOPES
  /** A short link, a host or the name of a workspace; a number for what is deleted. */
  readonly name: string
}

export type MoveOptions = {
  readonly db: Kysely<Schema>
  readonly source: ClickHistory
  readonly clickhouse: ClickHouse
  /**
   * Whether the service counts in ClickHouse: then all days are copied, otherwise only those that have ended for long
   * enough.
   */
  readonly hasSwitched: boolean
  readonly nowMicros: () => number
  readonly signal: AbortSignal
  readonly onWait: () => void
  readonly onProgress: (progress: MoveProgress) => void
}

/**
 * Copies the clicks of the main database to ClickHouse, erases there what was deleted since, and compares both.
 */
export async function moveClicks(options: MoveOptions): Promise<MoveResult> {
  const { db, source, clickhouse, hasSwitched, nowMicros, onWait, onProgress } = options
  const moved = new MovedDays(clickhouse)
  const run = new MoveRun(clickhouse)
  await run.begin(onWait, options.signal)
  try {
    const signal = AbortSignal.any([options.signal, run.signal])
    const beforeDay = hasSwitched ? Number.POSITIVE_INFINITY : dayOf(nowMicros()) - 1
    const mover = new ClickMover({ source, moved, nowMicros })
    const report = await mover.run({ beforeDay, signal, onProgress })
    await eraseMissing(db, moved, (erased) => eraseClicks(clickhouse, erased))
    return { ...report, differences: await nameAll(db, await compare(moved)) }
  } finally {
    await run.end()
  }
}

async function compare(moved: MovedDays): Promise<readonly Difference[]> {
  let differing = await moved.differences()
  for (let nth = 1; nth < COMPARISONS && differing.length > 0; nth += 1) {
    const again = new Set((await moved.differences()).map(textOf))
    differing = differing.filter((difference) => again.has(textOf(difference)))
  }
  return differing
}

function textOf({ scope, subject, workspaceId, day, source, target }: Difference): string {
  return JSON.stringify([scope, subject, workspaceId, day, target - source])
}

/** Finds the names of what differs. */
export async function nameAll(
  db: Kysely<Schema>,
  differences: readonly Difference[],
): Promise<readonly NamedDifference[]> {
  const subjectsOf = (wanted: number) =>
    differences.filter(({ scope }) => scope === wanted).map(({ subject }) => subject)
  const links = await db
    .selectFrom('links')
    .innerJoin('keyspaces', 'keyspaces.id', 'links.keyspace_id')
    .select(['links.seq', 'links.key', 'keyspaces.host'])
    .where('links.seq', 'in', [0, ...subjectsOf(SCOPES.link)])
    .execute()
  const hosts = await db
    .selectFrom('keyspaces')
    .select(['id', 'host'])
    .where('id', 'in', [0, ...subjectsOf(SCOPES.domain)])
    .execute()
  const workspaces = await db.selectFrom('workspaces').select(['id', 'name']).execute()
  const names = new Map<string, string>([
    ...links.map(({ seq, key, host }) => [`link ${seq}`, `${host}/${key}`] as const),
    ...hosts.map(({ id, host }) => [`domain ${id}`, host] as const),
    ...workspaces.map(({ id, name }) => [`workspace ${id}`, name] as const),
  ])
  return differences.map(({ scope, subject, workspaceId, day, source, target }) => {
    const kind = SCOPE_KINDS[scope] ?? 'link'
    const id = kind === 'workspace' ? (workspaceId ?? '') : String(subject)
    return { kind, name: names.get(`${kind} ${id}`) ?? id, day, source, target }
  })
}
