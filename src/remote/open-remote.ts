import type { LinkResource } from '@terse/contract/links'
import type { ApiClient } from './api-client.ts'
import { readLogin } from './login-file.ts'

/** The service that the user is logged in to. */
export type Remote = {
  readonly client: ApiClient
  /** The address of the service. */
  readonly url: string
  /** The host of the service, on which links are unless they name another domain. */
  readonly ownHost: string
  /** Returns the address at which a link opens. */
  addressOf(link: Pick<LinkResource, 'domain' | 'link'>): string
  /** As `findLink`. */
  find(text: string): Promise<LinkResource>
}

/**
 * Loads the client here: every process loads all commands, and the contract takes long.
 *
 * @param options as those of `ApiClient`
 */
export async function openRemote(options: { signal?: AbortSignal } = {}): Promise<Remote> {
  const login = readLogin()
  const { ApiClient } = await import('./api-client.ts')
  const { findLink } = await import('./find-link.ts')
  const client = new ApiClient(login, options)
  const { visitAddress } = await import('@terse/contract/visit-address')
  const service = new URL(login.url)
  const ownHost = service.hostname
  return {
    client,
    url: login.url,
    ownHost,
    addressOf: (link) => visitAddress(link, service),
    find: (text) => findLink(client, text, ownHost),
  }
}
