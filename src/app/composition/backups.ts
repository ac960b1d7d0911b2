import { systemClock } from '../../platform/time/clock.ts'
import { checkInstanceKey, loadSecretKey } from '../../storage/instance-keys.ts'
import type { Config } from '../config/config.ts'
import { openStore } from '../database/open-store.ts'
import type { FullStore } from '../database/stores.ts'
import { instanceFault } from '../start-faults.ts'

/**
 * Makes new links in a restored PostgreSQL database start `count` above the last number that it knows, after it
 * has checked the secret key against the database.
 *
 * @param folder has the restored secret key, unless `TERSE_SECRET_KEY` is set
 */
export async function skipRestoredNumbers(
  config: Pick<
    Config,
    'databaseUrl' | 'databaseTimeoutMs' | 'secretKey' | 'dataDir' | 'settingsFile'
  >,
  folder: string,
  count: number,
): Promise<void> {
  try {
    const { store } = await openStore({
      databaseUrl: config.databaseUrl,
      dataDir: folder,
      clock: systemClock(),
      timeoutMs: config.databaseTimeoutMs,
      mustExist: true,
      onError() {},
    })
    try {
      const key = config.secretKey ?? loadSecretKey(folder)
      if (key !== undefined) await checkInstanceKey(store, key)
      const last = await store.read.links.lastNumber()
      await store.write(({ links }) => links.skipNumbers(last + count))
    } finally {
      await store.close()
    }
  } catch (error) {
    throw instanceFault(config, error)
  }
}

/** Opens the SQLite databases of a restored folder, as `OpenRestored`. */
export async function openRestored(
  dataDir: string,
  onError: (error: unknown) => void,
): Promise<FullStore> {
  const { store } = await openStore({
    databaseUrl: undefined,
    dataDir,
    clock: systemClock(),
    timeoutMs: 0,
    mustExist: true,
    onError,
    onAvailability() {},
  })
  return store
}
