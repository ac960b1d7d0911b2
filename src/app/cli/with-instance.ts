import type { Instance } from '../instance/instance.ts'
import { type CommandConfig, openConfig } from './open-config.ts'

/** Opens the configured instance for one command. Never creates one. */
export async function withInstance<T>(
  work: (instance: Instance, command: CommandConfig) => Promise<T>,
): Promise<T> {
  const command = openConfig()
  const { openInstance } = await import('../instance/instance.ts')
  const instance = await openInstance(command.config, command.log, { mustExist: true })
  try {
    return await work(instance, command)
  } finally {
    await instance.close()
  }
}
