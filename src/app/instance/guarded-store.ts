import { Failure } from '../../platform/failure.ts'
import type { Config } from '../config/read-config.ts'
import type { FullStore } from '../database/stores.ts'
import type { DataFolder } from '../node/data-folder.ts'
import { type Instance, servicesOver } from './instance.ts'

/**
 * With SQLite, returns an instance whose store refuses writes while the data folder cannot be written, so
 * that the space that the disk reserve has freed is left for clicks, and that reports failed writes to
 * `folder`. With PostgreSQL, returns the instance unchanged: this machine's disk does not matter to it.
 */
export function guardInstance(config: Config, instance: Instance, folder: DataFolder): Instance {
  if (config.databaseUrl !== undefined) return instance
  const store = guardStore(instance.store, folder)
  return { ...instance, ...servicesOver(store, config, instance.clock) }
}

function guardStore(store: FullStore, folder: DataFolder): FullStore {
  return {
    ...store,
    async write(work) {
      const { fault, faultText } = folder
      if (fault !== undefined) {
        const kind = `data_folder_${fault}` as const
        throw Failure.unavailable(new Error(fault), { kind, message: faultText })
      }
      try {
        return await store.write(work)
      } catch (error) {
        folder.noteFailure(error)
        throw error
      }
    },
  }
}
