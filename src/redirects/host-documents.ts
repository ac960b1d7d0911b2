import type { HostDocument, LinkDirectory, LinkHost } from '../links/index.ts'
import type { AnswerHeaders, HostFile } from './exchange.ts'

/** A change has to reach those who asked before; Apple and Google ask once a day. */
const HEADERS = { 'Cache-Control': 'public, max-age=300', 'X-Content-Type-Options': 'nosniff' }
const JSON_HEADERS: AnswerHeaders = { ...HEADERS, 'Content-Type': 'application/json' }
const TEXT_HEADERS: AnswerHeaders = { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }

/** Memory of a document besides its text, estimated. */
const FILE_BYTES = 500

const ROBOTS_PATH = '/robots.txt'
const DOCUMENTS: ReadonlyMap<string, HostDocument> = new Map([
  ['/.well-known/apple-app-site-association', 'apple_app_site_association'],
  ['/.well-known/assetlinks.json', 'assetlinks'],
])

/** A program that must not list a link has to be able to ask for it: only `disallow` keeps it away. */
const ALLOWED: HostFile = { headers: TEXT_HEADERS, body: 'User-agent: *\nAllow: /\n' }
const DISALLOWED: HostFile = { headers: TEXT_HEADERS, body: 'User-agent: *\nDisallow: /\n' }

/** A document as it is served, and the memory that it takes. */
export type DocumentFile = HostFile & { readonly bytes: number }

/**
 * Returns what a host serves at a path besides its links: `robots.txt` itself, or which document that opens links in
 * apps. Undefined for none.
 */
export function fileAt(
  { robots, documents }: NonNullable<LinkHost['settings']>,
  path: string,
): HostFile | HostDocument | undefined {
  if (path === ROBOTS_PATH) {
    if (robots === null) return undefined
    return robots === 'disallow' ? DISALLOWED : ALLOWED
  }
  const document = DOCUMENTS.get(path)
  return document !== undefined && documents.includes(document) ? document : undefined
}

/** Returns the name under which a host's document is cached. */
export function documentName(document: HostDocument, host: string): string {
  return `${document} ${host}`
}

export function documentNames(host: string): readonly string[] {
  return [...DOCUMENTS.values()].map((document) => documentName(document, host))
}

/** @param name as `documentName` returns it */
export async function loadDocument(
  directory: LinkDirectory,
  name: string,
): Promise<DocumentFile | undefined> {
  const space = name.indexOf(' ')
  const kind = name.slice(0, space) as HostDocument
  const json = await directory.findDocument(name.slice(space + 1), kind)
  if (json === undefined) return undefined
  // The body of an answer has one byte for each character.
  const body = Buffer.from(json, 'utf8').toString('latin1')
  return { headers: JSON_HEADERS, body, bytes: body.length + FILE_BYTES }
}
