import { constants, setPriority } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { type MoveOptions, type MoveResult, moveClicks } from '../../clicks/move/move-clicks.ts'
import { returnClicks } from '../../clicks/move/return-clicks.ts'
import { openClickDatabase } from '../../clicks/store/clickhouse/click-database.ts'
import { OwnDays } from '../../clicks/store/clickhouse/own-days.ts'
import { openPostgresReturnTarget } from '../../clicks/store/postgres/return-target.ts'
import { findOrigin } from '../../clicks/store/returned-days.ts'
import { openSqliteReturnTarget } from '../../clicks/store/sqlite/return-target.ts'
import { dayOf } from '../../clicks/tally/click-day.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { ClickHouse } from '../../storage/clickhouse/clickhouse.ts'
import type { ClickHouseAccess } from '../../storage/clickhouse/clicks-url.ts'
import type { Config } from '../config/config.ts'
import { openStore } from '../database/open-store.ts'
import type { OpenedStore } from '../database/opened-store.ts'
import { storedHistoryOf } from '../database/stored-history.ts'
import { instanceFault } from '../start-faults.ts'
import type { CommandConfig } from './open-config.ts'

type MoveEvents = Pick<MoveOptions, 'signal' | 'onWait' | 'onProgress'>

/** A statement here may read more than one of a request. */
const TIMEOUT_MS = 60_000
/** One for what is moved, and one by which the process shows that it runs. */
const CONNECTIONS_MAX = 2

/**
 * Moves clicks from the configured database, with low priority, so that a service on the same machine goes first.
 *
 * @param command.config.clicks the target
 * @param current where the service has clicks
 */
export async function moveToClickHouse(
  { config, log }: CommandConfig,
  current: Config['clicks'],
  on: MoveEvents,
): Promise<MoveResult> {
  const { clicks } = config
  if (clicks === undefined) throw new Error('Name a ClickHouse database with --to.')
  const hasSwitched = current !== undefined
  if (hasSwitched && !isDeepStrictEqual(current.address, clicks.address)) {
    throw new Error('TERSE_CLICKS_URL names another ClickHouse than --to. Move clicks to that one.')
  }
  return withBoth({ config, log }, clicks, async ({ opened, clickhouse, nowMicros }) => {
    const source = storedHistoryOf(
      opened,
      config,
      await findOrigin(opened.db, new OwnDays(clickhouse)),
    )
    return moveClicks({ ...on, db: opened.db, source, clickhouse, hasSwitched, nowMicros })
  })
}

/**
 * Moves clicks back to the configured database, likewise.
 *
 * @param command.config.clicks the source
 * @param current where the service has clicks
 */
export async function moveToDatabase(
  { config, log }: CommandConfig,
  current: Config['clicks'],
  on: MoveEvents,
): Promise<MoveResult> {
  const { clicks, databaseUrl, dataDir, clickRetentionDays: retentionDays } = config
  if (clicks === undefined) {
    throw new Error('Name the ClickHouse database with --from, as TERSE_CLICKS_URL is not set.')
  }
  if (current !== undefined && !isDeepStrictEqual(current.address, clicks.address)) {
    throw new Error('TERSE_CLICKS_URL names another ClickHouse than --from.')
  }
  const onError = (error: unknown) => log.warn({ err: error }, 'store error')
  return withBoth({ config, log }, clicks, async ({ opened, clickhouse, nowMicros }) => {
    const target =
      databaseUrl === undefined
        ? openSqliteReturnTarget(dataDir)
        : openPostgresReturnTarget({ url: databaseUrl, onError })
    try {
      return await returnClicks({
        ...on,
        db: opened.db,
        target,
        clickhouse,
        hasSwitched: current === undefined,
        oldestDay: retentionDays === 0 ? 0 : dayOf(nowMicros()) - retentionDays,
        nowMicros,
      })
    } finally {
      await target.close()
    }
  })
}

type Both = {
  readonly opened: OpenedStore
  readonly clickhouse: ClickHouse
  nowMicros(): number
}

async function withBoth<T>(
  { config, log }: Pick<CommandConfig, 'config' | 'log'>,
  clicks: ClickHouseAccess,
  work: (both: Both) => Promise<T>,
): Promise<T> {
  setPriority(constants.priority.PRIORITY_LOW)
  const clock = systemClock()
  const onError = (error: unknown) => log.warn({ err: error }, 'store error')
  const { databaseUrl, dataDir } = config
  const opened = await openStore({
    databaseUrl,
    dataDir,
    clock,
    timeoutMs: TIMEOUT_MS,
    mustExist: true,
    onError,
  }).catch((error) => {
    throw instanceFault(config, error)
  })
  const clickhouse = openClickDatabase(clicks, {
    timeoutMs: 10 * TIMEOUT_MS,
    connectionsMax: CONNECTIONS_MAX,
  })
  try {
    return await work({ opened, clickhouse, nowMicros: () => clock.nowMicros() })
  } finally {
    await clickhouse.close()
    await opened.store.close()
  }
}
