import type { HostDocument, LinkDirectory, LinkHost } from '../links/index.ts'
import type { Change, ChangeListener } from '../storage/changes.ts'
import { type CacheUse, CoherentCache } from '../storage/coherent-cache.ts'
import type { AnswerHeaders, HostFile } from './exchange.ts'

/** Memory for documents, which one program asks for now and then. */
const BYTES_MAX = 16 * 1024 * 1024

/** A change has to reach those who asked before; Apple and Google ask once a day. */
const HEADERS = { 'Cache-Control': 'public, max-age=300', 'X-Content-Type-Options': 'nosniff' }
const JSON_HEADERS: AnswerHeaders = { ...HEADERS, 'Content-Type': 'application/json' }
const TEXT_HEADERS: AnswerHeaders = { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }

const ROBOTS_PATH = '/robots.txt'
const DOCUMENTS: ReadonlyMap<string, HostDocument> = new Map([
  ['/.well-known/apple-app-site-association', 'apple_app_site_association'],
  ['/.well-known/assetlinks.json', 'assetlinks'],
])

/** A program that must not list a link has to be able to ask for it: only `disallow` keeps it away. */
const ALLOWED: HostFile = { headers: TEXT_HEADERS, body: 'User-agent: *\nAllow: /\n' }
const DISALLOWED: HostFile = { headers: TEXT_HEADERS, body: 'User-agent: *\nDisallow: /\n' }

type CachedFile = HostFile & { readonly bytes: number }

/** Finds what hosts serve besides their links: `robots.txt`, and the documents that open links in apps. */
export class HostDocuments implements ChangeListener {
  readonly #cache: CoherentCache<CachedFile>

  constructor(directory: LinkDirectory) {
    this.#cache = new CoherentCache({
      sizeMax: BYTES_MAX,
      sizeOf: ({ bytes }) => bytes,
      async load(name) {
        const space = name.indexOf(' ')
        const kind = name.slice(0, space) as HostDocument
        const json = await directory.findDocument(name.slice(space + 1), kind)
        return json === undefined ? undefined : fileOf(json)
      },
    })
  }

  get use(): CacheUse {
    return this.#cache.use
  }

  /** Returns undefined for a path at which the host has none. */
  find(
    { settings }: LinkHost,
    name: string,
    path: string,
  ): HostFile | undefined | Promise<HostFile | undefined> {
    if (settings === null) return undefined
    if (path === ROBOTS_PATH) {
      if (settings.robots === null) return undefined
      return settings.robots === 'disallow' ? DISALLOWED : ALLOWED
    }
    const kind = DOCUMENTS.get(path)
    if (kind === undefined || !settings.documents.includes(kind)) return undefined
    return this.#cache.get(nameOf(kind, name))
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      if (kind !== 'host') continue
      for (const document of DOCUMENTS.values()) this.#cache.renew(nameOf(document, subject))
    }
  }

  forgetAll(): void {
    this.#cache.forgetAll()
  }

  forgetAbsences(): void {
    this.#cache.forgetAbsences()
  }
}

function nameOf(kind: HostDocument, host: string): string {
  return `${kind} ${host}`
}

/** The body of an answer has one byte for each character. */
function fileOf(json: string): CachedFile {
  const body = Buffer.from(json, 'utf8').toString('latin1')
  return { headers: JSON_HEADERS, body, bytes: body.length + 500 }
}
