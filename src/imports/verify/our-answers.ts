import type { DomainStore } from '../../domains/index.ts'
import type { KeyspaceStore, ServiceHost } from '../../hosts/index.ts'
import type { LinkDirectory, LinkHost } from '../../links/index.ts'
import type { Store } from '../../platform/database/store.ts'
import { decide, loadByKey } from '../../redirects/index.ts'
import type { LinkAnswer } from './link-answer.ts'

export type VerifyStores = {
  readonly domains: Pick<DomainStore, 'findByHost'>
  readonly keyspaces: Pick<KeyspaceStore, 'find'>
  readonly directory: LinkDirectory
}

type Dependencies = {
  readonly store: Pick<Store<VerifyStores>, 'read'>
  readonly serviceHost: ServiceHost
  readonly nowMs: number
}

/**
 * Decides what a visitor of a link of the workspace gets, by the code that answers visits, as if the domain were
 * active already: it is verified before its DNS is switched.
 */
export async function ourAnswer(
  { store, serviceHost, nowMs }: Dependencies,
  workspaceId: string,
  { host, key }: { readonly host: string; readonly key: string },
): Promise<LinkAnswer> {
  const linkHost = await findHost(store.read, serviceHost, workspaceId, host)
  const link = linkHost && (await loadByKey(store.read.directory, linkHost.keyspaceId, key))
  if (linkHost === undefined || link === undefined) return { kind: 'gone', status: 404 }
  const decision = decide(
    {
      ...{ host: linkHost, isRoot: false, link },
      ...{ device: 'other', query: '', knowsPassword: false },
    },
    nowMs,
  )
  switch (decision.kind) {
    case 'redirect':
    case 'fallback':
      return { kind: 'redirect', status: 302, location: decision.location }
    case 'ask-password':
      return { kind: 'page', status: 200, location: null }
    case 'expired':
      return { kind: 'gone', status: 410 }
    default:
      return { kind: 'gone', status: 404 }
  }
}

async function findHost(
  { domains, keyspaces }: VerifyStores,
  serviceHost: ServiceHost,
  workspaceId: string,
  host: string,
): Promise<LinkHost | undefined> {
  const isShared = host === serviceHost.host
  const keyspaceId = isShared ? serviceHost.keyspaceId : await keyspaces.find(workspaceId, host)
  const domain = isShared ? undefined : await domains.findByHost(workspaceId, host)
  if (keyspaceId === undefined) return undefined
  return {
    keyspaceId,
    notFoundUrl: domain?.not_found_url ?? null,
    expiredUrl: domain?.expired_url ?? null,
    hstsMaxAge: null,
  }
}
