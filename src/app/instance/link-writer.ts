import type { Domains } from '../../domains/domains.ts'
import { LinkKeyspaces } from '../../links/link-keyspaces.ts'
import { LinkWriter } from '../../links/link-writer.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { type AppContext, vaultOf } from './app-context.ts'

/** What writes links, for the API and for imports. */
export function openLinkWriter(
  context: Pick<AppContext, 'config' | 'instance' | 'serviceHost' | 'hasher'>,
  domains: Domains,
) {
  const { config, instance, serviceHost } = context
  const { clock, quotas } = instance
  const { claimOnLink, appSchemes } = config
  const base = { clock, random: systemRandom, serviceHost }
  const keyspaces = new LinkKeyspaces({ ...base, domains, claimOnLink })
  const vault = vaultOf(context)
  const writer = new LinkWriter({ ...base, keyspaces, vault, appSchemes, quotas })
  return { keyspaces, writer }
}
