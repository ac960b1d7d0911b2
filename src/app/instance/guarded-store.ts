import { Failure } from '../../platform/failure.ts'
import type { Config } from '../config/read-config.ts'
import type { FullStore } from '../database/stores.ts'
import type { DataFolder } from '../node/data-folder.ts'
import type { Instance } from './instance.ts'

/**
 * With SQLite, an instance whose store refuses writes while nothing can be written to the data folder, so
 * that what the reserve has freed is left for clicks, and that reports writes that fail. With PostgreSQL
 * the instance as it is: links can be stored whatever the disk of this machine does.
 */
export function guardInstance(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  instance: Instance,
  folder: DataFolder,
): Instance {
  if (databaseUrl !== undefined) return instance
  return { ...instance, store: guardStore(instance.store, folder) }
}

function guardStore(store: FullStore, folder: DataFolder): FullStore {
  return {
    ...store,
    async write(work) {
      const { fault, faultText } = folder
      if (fault !== undefined) throw Failure.unavailable(new Error(fault), faultText)
      try {
        return await store.write(work)
      } catch (error) {
        folder.noteFailure(error)
        throw error
      }
    },
  }
}
