import type { Device, LimitedLink } from '../clicks/index.ts'
import { type LinkHost, withoutQrMark } from '../links/index.ts'
import {
  formatParameter,
  missingIn,
  type Parameter,
  parseQuery,
  withoutQuery,
  withParameters,
} from './destination-query.ts'
import { isSocialAgent, type LinkPreview } from './link-preview.ts'
import { appendPath, fillPath, type PathMatch, withPlaceholders } from './paths.ts'
import type { LinkPassword, PreparedLink } from './prepared-link.ts'
import type { RuleVisitor } from './rule-visitor.ts'
import { evaluate, type Outcome, type SharedRules, type Trace } from './rules.ts'

/** Everything on which the answer to a visit depends. */
export type Visit = {
  /** Undefined for a host that is unknown or pending. */
  readonly host: LinkHost | undefined
  readonly isRoot: boolean
  /** Undefined where there is no such key. */
  readonly link: PreparedLink | undefined
  /** Rule sets that are tried after the link's own rules, in their order; none for nearly every link. */
  readonly sets: readonly SharedRules[]
  /** Where the link was found by a part of the path. */
  readonly path: PathMatch | undefined
  readonly device: Device
  /** The visitor's own query, as sent. */
  readonly query: string
  /** The parameter of the query that has the label, where the link's workspace reads labels; null for no labels. */
  readonly labelParameter: string | null
  /** Whether the visitor has proved knowledge of the link's password. */
  readonly knowsPassword: boolean
  /** Whether a link with a limit is known to have had all of its clicks; unknown when left out. */
  readonly isUsedUp?: (link: LimitedLink) => boolean
  /** Returns what rules ask about the visitor; called only for a link that has rules. */
  readonly visitorOf: (visit: Visit, label: string) => RuleVisitor
}

/** Why a visitor gets no destination of the link. */
type Refusal =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'expired'; readonly expiredAtMs: number }
  /** The link has had all the clicks that its limit allows. */
  | { readonly kind: 'used-up' }
  /** The link is not active yet. */
  | { readonly kind: 'upcoming'; readonly activeFromMs: number }

/**
 * A page in place of the destination, decided after `decide`: for programs that show links, where the link's owners set
 * what they show; and for all programs on a link with a limit, of which they use up nothing.
 */
export type PreviewDecision = {
  readonly kind: 'preview'
  readonly isPrefetch: boolean
  readonly shown: LinkPreview | null
  /** Where the page leads; null for a link with a limit. */
  readonly leadsTo: string | null
}

export type RedirectDecision = {
  readonly kind: 'redirect'
  readonly link: PreparedLink
  readonly location: string
  /** What the rule that matched gives; undefined where none did. */
  readonly outcome: Outcome | undefined
  /** '' for none. */
  readonly label: string
}

export type Decision =
  | { readonly kind: 'unknown-host' }
  | Refusal
  /** Following the redirects would come back to the same link: see `LoopDetector`. */
  | { readonly kind: 'loop' }
  | PreviewDecision
  /** The destination that the domain or the expired link sets for such visits, in place of the page. */
  | { readonly kind: 'fallback'; readonly location: string; readonly insteadOf: Refusal }
  | { readonly kind: 'ask-password'; readonly link: PreparedLink; readonly password: LinkPassword }
  | RedirectDecision

const STATUSES: Readonly<Record<Decision['kind'], number>> = {
  redirect: 302,
  fallback: 302,
  'ask-password': 200,
  preview: 200,
  'unknown-host': 404,
  'not-found': 404,
  upcoming: 404,
  expired: 410,
  'used-up': 410,
  loop: 508,
}

/** Returns the status of the answer to a visit. */
export function statusOf(decision: Decision): number {
  // A browser that has loaded an error in advance loads the link again when its person opens it.
  return decision.kind === 'preview' && decision.isPrefetch ? 503 : STATUSES[decision.kind]
}

/**
 * Decides what a visitor gets. The order of the checks is part of the specification of redirects.
 *
 * @param trace follows the steps, for an explanation
 */
export function decide(visit: Visit, nowMs: number, trace?: Trace): Decision {
  const { host, link } = visit
  if (host === undefined) return { kind: 'unknown-host' }
  if (visit.isRoot || link === undefined) {
    const rootUrl = visit.isRoot && host.settings !== null ? host.settings.rootUrl : null
    return fallback(rootUrl ?? host.notFoundUrl, { kind: 'not-found' })
  }
  const { traits } = link
  if (traits.expiresAtMs <= nowMs) {
    const location = traits.expiredRedirectUrl ?? host.expiredUrl
    return fallback(location, { kind: 'expired', expiredAtMs: traits.expiresAtMs })
  }
  if (traits.activeFromMs > nowMs) {
    return fallback(host.notFoundUrl, { kind: 'upcoming', activeFromMs: traits.activeFromMs })
  }
  if (traits.maxClicks !== null && isKnownUsedUp(visit, link.seq, traits.maxClicks)) {
    return whenUsedUp(host, link)
  }
  if (traits.password !== null && !visit.knowsPassword) {
    return { kind: 'ask-password', link, password: traits.password }
  }
  const redirect = redirectOf(visit, link, trace)
  const utm = host.settings === null ? null : host.settings.utm
  if (utm === null) return redirect
  const missing = missingIn(redirect.location, parametersOf(utm))
  trace?.defaults(missing)
  return { ...redirect, location: withParameters(redirect.location, missing) }
}

type Redirect = Extract<Decision, { kind: 'redirect' }>

function redirectOf(visit: Visit, link: PreparedLink, trace: Trace | undefined): Redirect {
  const labelled = takeLabel(visit.query, visit.labelParameter)
  const { label, query } = labelled
  if (link.traits.rules !== null || visit.sets.length > 0) {
    const redirect = redirectByRules(visit, link, labelled, trace)
    if (redirect !== undefined) return redirect
  }
  const destination = onPath(destinationFor(link, visit.device, trace), link, visit.path)
  const location = withQuery(destination, link, query, undefined, trace)
  return { kind: 'redirect', link, location, outcome: undefined, label }
}

/** What a query has besides the label. */
export type LabelledQuery = {
  /** '' for none. */
  readonly label: string
  /** Without the parameter of the label; every other byte is unchanged. */
  readonly query: string
}

/** UTF-16 code units; at most 240 bytes of UTF-8, as values of clicks may have. */
const LABEL_LENGTH_MAX = 80
const CONTROL_CHARACTER = /\p{Cc}/u
/** Half of a character, which a cut may leave at the end. */
const CUT_CHARACTER = /[\ud800-\udbff]$/
/** Shared by visits without a query, which are most. */
const EMPTY_QUERY: LabelledQuery = { label: '', query: '' }

/**
 * Takes the label out of a visitor's query: the first value of the parameter. Cut to 80 characters; one that is not UTF-8
 * or has control characters is none. The parameter is taken out in each case, as often as it comes.
 *
 * @param query without the question mark
 * @param parameter unreserved characters of URLs, which nothing encodes; null to take none
 */
export function takeLabel(query: string, parameter: string | null): LabelledQuery {
  if (query === '') return EMPTY_QUERY
  if (parameter === null || !query.includes(parameter)) return { label: '', query }
  const start = `${parameter}=`
  const isLabel = (text: string) => text === parameter || text.startsWith(start)
  const texts = query.split('&')
  const first = texts.find(isLabel)
  if (first === undefined) return { label: '', query }
  const rest = texts.filter((text) => !isLabel(text))
  return { label: readLabel(first.slice(start.length)), query: rest.join('&') }
}

function readLabel(encoded: string): string {
  let label: string
  try {
    label = decodeURIComponent(encoded.replaceAll('+', ' ')).trim()
  } catch {
    return ''
  }
  if (CONTROL_CHARACTER.test(label)) return ''
  return label.slice(0, LABEL_LENGTH_MAX).replace(CUT_CHARACTER, '').trimEnd()
}

function isKnownUsedUp({ isUsedUp }: Visit, seq: number, maxClicks: number): boolean {
  return isUsedUp?.({ seq, maxClicks }) === true
}

/** Decides what visitors of a link get once it has had all of its clicks: the same as of one that has expired. */
export function whenUsedUp(
  host: Pick<LinkHost, 'expiredUrl'> | undefined,
  link: Pick<PreparedLink, 'traits'>,
): Decision {
  return fallback(link.traits.expiredRedirectUrl ?? host?.expiredUrl ?? null, { kind: 'used-up' })
}

type HostUtm = NonNullable<NonNullable<LinkHost['settings']>['utm']>

/** Encoded once for each host that is cached. */
const encodedUtm = new WeakMap<HostUtm, readonly Parameter[]>()

function parametersOf(utm: HostUtm): readonly Parameter[] {
  let parameters = encodedUtm.get(utm)
  if (parameters === undefined) {
    parameters = Object.entries(utm).map(([name, value]) => formatParameter(name, value))
    encodedUtm.set(utm, parameters)
  }
  return parameters
}

/** Returns the page that a program gets in place of a redirect which its visit is not to follow; undefined for none. */
export function decidePreview(
  { link, location }: RedirectDecision,
  userAgent: string | undefined,
): PreviewDecision | undefined {
  const { preview: shown } = link.traits
  // A link with a limit sends its page to more programs, and only once it knows them.
  if (shown === null || link.traits.maxClicks !== null || !isSocialAgent(userAgent))
    return undefined
  return { kind: 'preview', isPrefetch: false, shown, leadsTo: location }
}

/** Returns the page that a program gets in place of the destination of a link with a limit, of which it uses up nothing. */
export function limitedPreview({ link }: RedirectDecision, isPrefetch: boolean): PreviewDecision {
  return { kind: 'preview', isPrefetch, shown: link.traits.preview, leadsTo: null }
}

/** Returns undefined where no rule matches. */
function redirectByRules(
  visit: Visit,
  link: PreparedLink,
  labelled: LabelledQuery,
  trace: Trace | undefined,
): Redirect | undefined {
  const visitor = visit.visitorOf(visit, labelled.label)
  const sent = { ...labelled, path: visit.path }
  const { rules, utm, path } = link.traits
  const own = rules === null ? undefined : evaluate(rules, visitor, trace)
  if (own !== undefined) return redirectBy(own, link, sent, own.template.fill(visitor), trace)
  for (const set of visit.sets) {
    const outcome = evaluate(set.rules, visitor, trace)
    if (outcome === undefined) continue
    // Links share the destinations of a set, so the UTM values of this one are set here.
    const completed = withParameters(outcome.template.fill(visitor), utm)
    const destination = path === 'capture' ? withPlaceholders(completed) : completed
    return redirectBy(outcome, link, sent, destination, trace)
  }
  return undefined
}

function redirectBy(
  outcome: Outcome,
  link: PreparedLink,
  { path, query, label }: LabelledQuery & Pick<Visit, 'path'>,
  destination: string,
  trace: Trace | undefined,
): Redirect {
  const { parameters } = outcome.template
  const location = withQuery(onPath(destination, link, path), link, query, parameters, trace)
  return { kind: 'redirect', link, location, outcome, label }
}

/** Applies the visitor's path to a destination, as the link has it. */
function onPath(destination: string, link: PreparedLink, path: PathMatch | undefined): string {
  switch (link.traits.path) {
    case 'none':
      return destination
    case 'append':
      return path === undefined ? destination : appendPath(destination, path)
    case 'capture':
      return fillPath(destination, path)
  }
}

/**
 * Adds the visitor's query to a destination, as the link has it.
 *
 * @param except names of parameters that the destination has used
 */
function withQuery(
  destination: string,
  link: Pick<PreparedLink, 'traits'>,
  sent: string,
  except: ReadonlySet<string> | undefined,
  trace: Trace | undefined,
): string {
  const query = withoutQrMark(sent)
  if (query === '' || link.traits.query === 'drop') {
    trace?.query(destination, [])
    return destination
  }
  const parameters = parseQuery(query)
  const isUnused = ({ name }: Parameter) => except?.has(name) !== true
  const unused = except === undefined ? parameters : parameters.filter(isUnused)
  trace?.query(destination, unused)
  if (link.traits.query === 'merge' || unused.length === 0) {
    return withParameters(destination, unused, trace?.replaced)
  }
  const bare = withoutQuery(destination, trace?.replaced)
  return withParameters(withParameters(bare, link.traits.utm), unused, trace?.replaced)
}

function fallback(location: string | null, insteadOf: Refusal): Decision {
  return location === null ? insteadOf : { kind: 'fallback', location, insteadOf }
}

function destinationFor(
  { url, traits: { ios, android } }: PreparedLink,
  device: Device,
  trace: Trace | undefined,
): string {
  if (device === 'ios' && ios !== null) {
    trace?.destination('ios')
    return ios
  }
  if (device === 'android' && android !== null) {
    trace?.destination('android')
    return android
  }
  trace?.destination('url')
  return url
}
