import type { VerifyServices } from '../../imports/commands/verify.ts'
import { withInstance } from './with-instance.ts'

/** Opens the configured instance and what compares its imported links, for one command. */
export function withVerification<T>(work: (services: VerifyServices) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config }) => {
    const { LinkVerification } = await import('../../imports/verify/link-verification.ts')
    const { openServiceHost } = await import('../instance/service-host.ts')
    const serviceHost = await openServiceHost(config, instance)
    const verification = new LinkVerification({ ...instance, serviceHost })
    return work({ workspaces: instance.workspaces, verification })
  })
}
