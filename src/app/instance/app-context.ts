import type { Logger } from 'pino'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { Throttles } from '../../platform/limits/throttle.ts'
import type { PasswordHasher } from '../../platform/passwords/password-hasher.ts'
import { type PasswordVault, passwordVault } from '../../platform/passwords/password-vault.ts'
import type { WorkQueues } from '../../platform/work/work-queues.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from './instance.ts'

/** The application context: what the parts of a node are built from. */
export type AppContext = {
  readonly config: Config
  readonly instance: Instance
  readonly log: Logger
  readonly serviceHost: ServiceHost
  readonly throttles: Throttles
  readonly hasher: PasswordHasher
  /** The queues in front of expensive work. */
  readonly queues: WorkQueues
  /** How long an answer of the API may take. */
  readonly answerMsMax: number
}

/** The passwords of links. */
export function vaultOf({
  instance,
  hasher,
}: Pick<AppContext, 'instance' | 'hasher'>): PasswordVault {
  return passwordVault(deriveKey(instance.instanceKey, 'link-password'), systemRandom, hasher)
}

/** The passwords of people. */
export function peopleVaultOf({ instance, hasher }: AppContext): PasswordVault {
  return passwordVault(deriveKey(instance.instanceKey, 'person-password'), systemRandom, hasher)
}

/** @param operation names what failed in the log line */
export function logUnexpected(log: Logger, operation: string): (error: unknown) => void {
  return (error) => log.error({ err: error, operation }, 'unexpected error')
}
