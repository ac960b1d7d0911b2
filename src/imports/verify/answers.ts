import type { DomainStore } from '../../domains/index.ts'
import type { KeyspaceStore, ServiceHost } from '../../hosts/index.ts'
import type { LinkDirectory, LinkHost } from '../../links/index.ts'
import { decide, loadByKey, loadRuleSet, unknownVisitor } from '../../redirects/index.ts'
import type { Store } from '../../storage/store.ts'

/** What a visitor of a short link gets, from the old service or from Terse. */
export type LinkAnswer =
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  /** A page in place of the destination, such as one that asks for a password. */
  | { readonly kind: 'page'; readonly status: number; readonly location: string | null }
  | { readonly kind: 'gone'; readonly status: number }
  | { readonly kind: 'unknown'; readonly status: number | null; readonly reason: string }

const REDIRECTS = [301, 302, 303, 307, 308]
const PAGES = [200, 401, 403]
const GONE = [404, 410, 451]

/**
 * Reads an answer over HTTP. A redirect within the host of the short link leads to a page of the service, as Kutt
 * does for protected and banned links.
 */
export function answerFromHttp(url: URL, status: number, header: string | undefined): LinkAnswer {
  if (GONE.includes(status)) return { kind: 'gone', status }
  if (PAGES.includes(status)) return { kind: 'page', status, location: null }
  const location = REDIRECTS.includes(status) ? header : undefined
  const target = location === undefined ? null : URL.parse(utf8Of(location), url)
  if (target === null)
    return { kind: 'unknown', status, reason: `it answers with status ${status}` }
  const kind = target.hostname === url.hostname ? 'page' : 'redirect'
  return { kind, status, location: target.href }
}

/** Node.js reads headers as Latin-1; services that do not encode a destination send UTF-8. */
function utf8Of(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8')
  return text.includes('\u{fffd}') ? header : text
}

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
  const { ruleSet } = link.traits
  const set = ruleSet === null ? undefined : await loadRuleSet(store.read.directory, ruleSet)
  const decision = decide(
    {
      ...{
        host: linkHost,
        isRoot: false,
        link,
        path: undefined,
        sets: set === undefined ? [] : [set],
      },
      ...{ device: 'other', query: '', labelParameter: null, knowsPassword: false },
      visitorOf: () => unknownVisitor(nowMs),
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
    case 'used-up':
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
    // Defaults of the domain are no part of what the old service had.
    settings: null,
  }
}

type Comparison =
  | { readonly verdict: 'same' }
  /** `unknown` when the old service or Terse gave no answer. */
  | { readonly verdict: 'different' | 'unknown'; readonly reason: string }

const SAME: Comparison = { verdict: 'same' }

/**
 * Compares what visitors get. Two answers that lead to no destination are the same, whatever their pages show: a
 * protected, banned or expired link stays closed.
 */
export function compareAnswers(before: LinkAnswer, now: LinkAnswer): Comparison {
  if (before.kind === 'unknown') return unknown(`The old service: ${before.reason}.`)
  if (now.kind === 'unknown') return unknown(`Terse: ${now.reason}.`)
  if (before.kind !== 'redirect' && now.kind !== 'redirect') return SAME
  if (before.kind !== 'redirect') {
    const old = before.kind === 'gone' ? 'has no such link' : 'shows a page'
    return different(`The old service ${old}; Terse redirects.`)
  }
  if (now.kind !== 'redirect') {
    const here = now.kind === 'gone' ? 'answers that it is gone' : 'asks for a password'
    return different(`The old service redirects; Terse ${here}.`)
  }
  if (spelling(before.location) === spelling(now.location)) return SAME
  return different('The destinations differ.')
}

function different(reason: string): Comparison {
  return { verdict: 'different', reason }
}

function unknown(reason: string): Comparison {
  return { verdict: 'unknown', reason }
}

/**
 * Returns the same spelling for URLs that differ only in needless percent-encoding, letter case of hosts and escapes, `+` for
 * a space in the query, or the order of parameters with different names.
 */
export function spelling(address: string): string {
  const url = URL.parse(address)
  if (url === null) return address
  const parameters = [...new URLSearchParams(url.search)]
  const query = parameters
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .map((text, index) => ({ text, name: parameters[index]?.[0] ?? '' }))
    .sort((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1))
    .map(({ text }) => text)
  const path = url.pathname.split('/').map(recoded).join('/')
  const origin = `${url.protocol}//${url.username}:${url.password}@${url.host}`
  return `${origin}${path}?${query.join('&')}#${recoded(url.hash.slice(1))}`
}

function recoded(text: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(text))
  } catch {
    return text
  }
}
