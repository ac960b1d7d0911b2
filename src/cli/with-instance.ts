import type { Instance } from '../compose/instance.ts'
import { readConfig } from '../config/read-config.ts'
import { createLogger } from './logger.ts'

/** Opens the instance that the environment describes, for one command. */
export async function withInstance<T>(work: (instance: Instance) => Promise<T>): Promise<T> {
  const config = readConfig()
  const { openInstance } = await import('../compose/instance.ts')
  const instance = await openInstance(config, createLogger(config.logLevel))
  try {
    return await work(instance)
  } finally {
    await instance.close()
  }
}
