import type { Finding } from '../../operations/doctor/host-findings.ts'
import { Failure } from '../../platform/failure.ts'
import type { ClickHouseAccess } from '../../storage/clickhouse/clicks-url.ts'

const SUBJECT = 'clickhouse'
const TIMEOUT_MS = 5_000
const GIB = 1024 ** 3
/** ClickHouse delays inserts from 1,000 parts of a partition on, and refuses them from 3,000 on. */
const PARTS_HIGH = 600

type ServerState = {
  readonly version: string
  readonly free: number
  readonly total: number
  readonly parts: number
}

/** Looks at the database of clicks, and changes nothing. */
export async function clicksFinding(
  access: ClickHouseAccess,
  diskLowRatio: number,
): Promise<Finding> {
  const { ClickHouse } = await import('../../storage/clickhouse/clickhouse.ts')
  const { findClickSchema } = await import('../../storage/clickhouse/migrate.ts')
  const { clickMigrations } = await import('../../clicks/store/clickhouse/layout.ts')
  const db = new ClickHouse({ ...access, timeoutMs: TIMEOUT_MS, connectionsMax: 1 })
  try {
    const [state] = await db.rows<ServerState>(
      `select version() as version,
        (select sum(free_space) from system.disks) as free,
        (select sum(total_space) from system.disks) as total,
        (select max(parts) from (
          select count() as parts from system.parts
          where active and database = currentDatabase() group by table, partition_id)) as parts`,
    )
    if (state === undefined) throw new Error('ClickHouse answered with no row')
    const version = await findClickSchema(db)
    if (version > clickMigrations(access.address).length) {
      const text = `ClickHouse has clicks of a newer release, schema version ${version}`
      return { subject: SUBJECT, state: 'problem', text, advice: 'Start that release of Terse.' }
    }
    return findingOf(state, diskLowRatio)
  } catch (error) {
    const cause = error instanceof Failure ? error.cause : error
    const text = cause instanceof Error ? cause.message || cause.name : String(cause)
    return {
      subject: SUBJECT,
      state: 'problem',
      text: `ClickHouse does not answer: ${text}`,
      advice:
        'Check TERSE_CLICKS_URL and TERSE_CLICKS_PASSWORD, and that the server runs. Clicks wait in the journals until it does.',
    }
  } finally {
    await db.close()
  }
}

function findingOf({ version, free, total, parts }: ServerState, lowRatio: number): Finding {
  const text = `ClickHouse ${version}, ${(free / GIB).toFixed(1)} GiB free`
  if (free < total * lowRatio) {
    const advice = 'Make room on the disk of ClickHouse: without it, clicks wait in the journals.'
    return { subject: SUBJECT, state: 'warning', text, advice }
  }
  if (parts > PARTS_HIGH) {
    return {
      subject: SUBJECT,
      state: 'warning',
      text: `${text}, ${parts} parts in one partition`,
      advice:
        'It merges more slowly than clicks come. Give ClickHouse more cores or a faster disk.',
    }
  }
  return { subject: SUBJECT, state: 'ok', text }
}
