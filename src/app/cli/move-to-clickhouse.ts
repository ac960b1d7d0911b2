import { constants, setPriority } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { type MoveOptions, type MoveResult, moveClicks } from '../../clicks/move/move-clicks.ts'
import { openClickDatabase } from '../../clicks/store/clickhouse/click-database.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { Config } from '../config/config.ts'
import { openStore } from '../database/open-store.ts'
import { storedHistoryOf } from '../database/stored-history.ts'
import { instanceFault } from '../start-faults.ts'
import type { CommandConfig } from './open-config.ts'

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
  on: Pick<MoveOptions, 'signal' | 'onWait' | 'onProgress'>,
): Promise<MoveResult> {
  const { clicks } = config
  if (clicks === undefined) throw new Error('Name a ClickHouse database with --to.')
  const hasSwitched = current !== undefined
  if (hasSwitched && !isDeepStrictEqual(current.address, clicks.address)) {
    throw new Error('TERSE_CLICKS_URL names another ClickHouse than --to. Move clicks to that one.')
  }
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
    return await moveClicks({
      ...on,
      db: opened.db,
      source: storedHistoryOf(opened, config),
      clickhouse,
      hasSwitched,
      nowMicros: () => clock.nowMicros(),
    })
  } finally {
    await clickhouse.close()
    await opened.store.close()
  }
}
