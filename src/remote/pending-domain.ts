import type { DomainResource } from '@terse/contract/domains'
import type { LinkResource } from '@terse/contract/links'
import { plainText } from '../platform/cli/terminal.ts'
import type { Remote } from './open-remote.ts'
import { RemoteFault } from './remote-fault.ts'

/** A domain that is not older than a link by more than this was added with it. */
const ADDED_WITHIN_MS = 2_000

/**
 * Returns a line for people about the domain of a link that was just written, where it is pending: such a link does not
 * open. Returns undefined otherwise, and where the token may not read domains.
 */
export async function findPendingNote(
  { client, ownHost, url }: Pick<Remote, 'client' | 'ownHost' | 'url'>,
  link: LinkResource,
): Promise<string | undefined> {
  if (link.domain === ownHost) return undefined
  const { domainPage } = await import('@terse/contract/domains')
  let domains: readonly DomainResource[]
  try {
    domains = (await client.get('/domains', domainPage, { domain: link.domain })).data
  } catch (error) {
    // The link is written, which a fault of this would deny.
    if (error instanceof RemoteFault) return undefined
    throw error
  }
  // A service of an earlier version may answer with all.
  const found = domains.find(({ domain }) => domain === link.domain)
  if (found?.status !== 'pending') return undefined
  const age = Date.parse(link.updated_at) - Date.parse(found.created_at)
  const state = age <= ADDED_WITHIN_MS ? 'was added to the workspace and is pending' : 'is pending'
  return plainText(
    `The domain ${found.domain} ${state}: the link opens once DNS records prove it. Set them, or remove a mistyped domain: ${url}/app/domains?id=${found.id}`,
  )
}
