import type { Logger } from 'pino'
import type { Config } from '../config/read-config.ts'
import type { ServiceHost } from '../domain/domains/service-host.ts'
import { deriveKey } from '../domain/instance/instance-keys.ts'
import { type PasswordVault, passwordVault } from '../domain/links/password-vault.ts'
import type { PasswordHasher } from '../domain/passwords/password-hasher.ts'
import { systemRandom } from '../lib/random.ts'
import type { Throttles } from '../lib/throttles.ts'
import type { WorkQueues } from '../lib/work-queues.ts'
import type { Instance } from './instance.ts'

/** What the parts of a node are made from. */
export type Foundation = {
  readonly config: Config
  readonly instance: Instance
  readonly log: Logger
  readonly serviceHost: ServiceHost
  readonly throttles: Throttles
  readonly hasher: PasswordHasher
  /** In front of everything expensive. */
  readonly queues: WorkQueues
}

export function vaultOf({ instance, hasher }: Foundation): PasswordVault {
  return passwordVault(deriveKey(instance.instanceKey, 'link-password'), systemRandom, hasher)
}

export function logFailure(log: Logger): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'something failed')
}
