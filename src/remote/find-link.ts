import { type LinkResource, linkPage, linkSchema } from '@terse/contract/links'
import type { ApiClient } from './api-client.ts'
import { RemoteFault } from './remote-fault.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** A host, and a path after it. */
const ADDRESS = /^([^/\s]+\.[^/\s]+|localhost(?::\d+)?|\[[^\]]+\](?::\d+)?)\/(.+)$/

/**
 * Finds a link by its identifier, by its short link, or by its key on the domain of the service.
 *
 * @throws {RemoteFault} where there is none
 */
export async function findLink(
  client: ApiClient,
  text: string,
  ownHost: string,
): Promise<LinkResource> {
  if (UUID.test(text)) return client.get(`/links/${text}`, linkSchema)
  const { host, key } = addressOf(text, ownHost)
  const search = `https://${host}/${key}`
  const { data } = await client.get('/links', linkPage, { search, domain: host, per_page: 100 })
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
