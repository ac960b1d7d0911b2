import type { DomainResource } from '@terse/contract/domains'
import { type LinkResource, linkPage, linkSchema } from '@terse/contract/links'
import { plainText } from '../platform/cli/terminal.ts'
import type { ApiClient, ApiClientOptions } from './api-client.ts'
import { RemoteFault, readLogin } from './login-file.ts'

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

/** Loads the client here: every process loads all commands, and the contract takes long. */
export async function openRemote(options: ApiClientOptions = {}): Promise<Remote> {
  const login = readLogin()
  const { ApiClient } = await import('./api-client.ts')
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

/** The argument that `Remote.find` takes. */
export const LINK = [
  '<link>',
  'its short link, its key on the service’s own host, or its ID',
] as const

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** A host, and a path after it. */
const ADDRESS = /^([^/\s]+\.[^/\s]+|localhost(?::\d+)?|\[[^\]]+\](?::\d+)?)\/(.+)$/

/**
 * Finds a link by its identifier, by its short link, or by its key on the domain of the service.
 *
 * @throws {RemoteFault} where there is none
 */
async function findLink(client: ApiClient, text: string, ownHost: string): Promise<LinkResource> {
  if (UUID.test(text)) return client.get(`/links/${text}`, linkSchema)
  const { host, key } = addressOf(text, ownHost)
  const search = `https://${host}/${key}`
  const query = { search, domain: host, archived: 'any', per_page: 100 }
  const { data } = await client.get('/links', linkPage, query)
  const wanted = decoded(key)
  const found =
    data.find((link) => link.key === wanted) ??
    data.find((link) => link.key.toLowerCase() === wanted.toLowerCase())
  if (found !== undefined) return found
  throw new RemoteFault(`There is no link ${host}/${wanted} in this workspace.`, 'not_found')
}

function addressOf(text: string, ownHost: string): { host: string; key: string } {
  const plain = text.trim().replace(/^https?:\/\//i, '')
  const [, host, key] = ADDRESS.exec(plain) ?? []
  if (host === undefined || key === undefined) return { host: ownHost, key: plain }
  // A port is no part of a link's domain.
  return { host: host.replace(/:\d+$/, ''), key: key.replace(/[?#].*$/s, '') }
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key).normalize('NFC')
  } catch {
    return key
  }
}

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
