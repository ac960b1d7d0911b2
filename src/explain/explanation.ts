import type { ExplanationResource } from '@terse/contract/explain'
import type { Rule } from '@terse/contract/rules'
import { CLICK_FLAGS, flagNames } from '../clicks/index.ts'
import { foldKey, keyOfPath, type LinkHost, QR_MARK, type VisitedLink } from '../links/index.ts'
import { formatInstant } from '../platform/time/clock.ts'
import {
  type Decision,
  decide,
  decidePreview,
  indexPaths,
  isContact,
  limitedPreview,
  matchPath,
  type Outcome,
  type PathMatch,
  type PreparedLink,
  parseQuery,
  placeholdersIn,
  type RedirectDecision,
  type SharedRules,
  statusOf,
  type Trace,
  withParameters,
  withToken,
} from '../redirects/index.ts'
import type { ExplainedVisitor } from './visitor.ts'

type Parameter = ReturnType<typeof parseQuery>[number]
type TriedRule = ExplanationResource['rules'][number]
type UrlParts = NonNullable<ExplanationResource['url']>

/** What is decided about: a link with the rule sets that it uses. */
export type Subject = {
  readonly host: LinkHost
  readonly link: VisitedLink
  readonly prepared: PreparedLink
  readonly sets: readonly SharedRules[]
  /** As `Visit` has it. */
  readonly labelParameter: string | null
  /** As `FoundLink` has it. */
  readonly tokenParameter: string | null
  /** Whether the link has had all the clicks that its limit allows. */
  readonly isUsedUp: boolean
}

/** Returns a host as it is before anything of it is set. */
export function newHost(keyspaceId: number): LinkHost {
  return { keyspaceId, notFoundUrl: null, expiredUrl: null, hstsMaxAge: null, settings: null }
}

/** A decision, and what was recorded while it was made. */
export type Explained = {
  readonly link: VisitedLink
  /** In the order in which they are tried. */
  readonly rules: readonly ListedRule[]
  readonly prepared: PreparedLink
  readonly labelParameter: string | null
  readonly tokenParameter: string | null
  readonly visitor: ExplainedVisitor
  readonly decision: Decision
  /** The redirect that was decided, where a page may stand in its place. */
  readonly redirect: RedirectDecision | undefined
  /** How the visitor's path meets the key of the link; undefined where it is the key alone. */
  readonly path: PathMatch | undefined
  readonly steps: Steps
}

type ListedRule = { readonly of: TriedRule['of']; readonly rule: Rule }

/** The link's own rules, as they were set, and then those of sets. */
function listRules({ link, sets }: Subject): readonly ListedRule[] {
  return [
    ...(link.rules ?? []).map((rule) => ({ of: 'link' as const, rule })),
    ...sets.flatMap(({ rules }) => rules.source.map((rule) => ({ of: 'rule_set' as const, rule }))),
  ]
}

/** Collects the steps of one decision. */
class Steps implements Trace {
  /** Why each rule that was tried did not decide; null for the one that did. */
  readonly tried: TriedRule['failed'][] = []
  field: 'url' | 'ios' | 'android' | undefined
  target = ''
  added: readonly Parameter[] = []
  readonly replacedTexts: string[] = []
  /** UTM values of the domain. */
  defaultsAdded: readonly Parameter[] = []
  readonly #rules: readonly ListedRule[]
  readonly #visitor: ExplainedVisitor

  constructor(rules: readonly ListedRule[], visitor: ExplainedVisitor) {
    this.#rules = rules
    this.#visitor = visitor
  }

  readonly rule: Trace['rule'] = (_, failed) => {
    // Rules are tried in their order, and ids of a set may be those of the link.
    const { when = {} } = this.#rules[this.tried.length]?.rule ?? {}
    const reason = failed && {
      path: `when.${failed.path}`,
      wanted: valueAt(when, failed.path),
      found: failed.found(this.#visitor.rules),
    }
    this.tried.push(reason ?? null)
  }

  readonly destination: Trace['destination'] = (field) => {
    this.field = field
  }

  readonly query: Trace['query'] = (destination, added) => {
    this.target = destination
    this.added = added
  }

  readonly defaults: Trace['defaults'] = (added) => {
    this.defaultsAdded = added
  }

  readonly replaced: Trace['replaced'] = (text) => {
    this.replacedTexts.push(text)
  }
}

function valueAt(when: Rule['when'], path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], when)
}

/** Decides where a visitor of a link is sent, as a redirect does, and records how. */
export function explainDecision(subject: Subject, visitor: ExplainedVisitor): Explained {
  const { host, link, prepared, sets, labelParameter, tokenParameter, isUsedUp } = subject
  const rules = listRules(subject)
  const steps = new Steps(rules, visitor)
  const { atMs, query } = visitor.rules.source
  const { isOfLink, path } = meetPath(link, visitor.path)
  const visit = {
    ...{ host, isRoot: false, link: isOfLink ? prepared : undefined, path },
    ...{ sets, query, labelParameter },
    device: visitor.device,
    knowsPassword: visitor.knowsPassword,
    isUsedUp: () => isUsedUp,
    visitorOf: () => visitor.rules,
  }
  const decided = decide(visit, atMs, steps)
  const redirect = decided.kind === 'redirect' ? decided : undefined
  const decision = redirect === undefined ? decided : whereShown(redirect, visitor)
  const read = { link, rules, prepared, labelParameter, tokenParameter }
  return { ...read, visitor, decision, redirect, path, steps }
}

/** Finds out whether a path leads to a link, as redirects do where no other link takes it. */
export function meetPath(
  { key, path: mode }: Pick<VisitedLink, 'key' | 'path'>,
  path: string | undefined,
): { readonly isOfLink: boolean; readonly path: PathMatch | undefined } {
  if (path === undefined || foldKey(keyOfPath(path) ?? '') === foldKey(key)) {
    return { isOfLink: true, path: undefined }
  }
  const match = mode === 'none' ? undefined : matchPath(indexPaths([key]), path)
  return { isOfLink: match !== undefined, path: match }
}

/** Programs use up no click of a limit, and get a page. So do those that show links, where it says what to show. */
function whereShown(
  decision: RedirectDecision,
  { flags, isMachine, rules }: ExplainedVisitor,
): Decision {
  if (decision.link.traits.maxClicks === null) {
    return decidePreview(decision, rules.source.userAgent) ?? decision
  }
  return isMachine ? limitedPreview(decision, (flags & CLICK_FLAGS.prefetch) !== 0) : decision
}

/** Puts an explanation into the form of the API. */
export function presentExplanation(
  explained: Explained,
  { domainWorks }: { readonly domainWorks: boolean },
): Omit<ExplanationResource, 'examples'> {
  const { decision, visitor } = explained
  const { click } = visitor
  return {
    kind: decision.kind,
    status: statusOf(decision),
    location: locationOf(explained),
    instead_of: decision.kind === 'fallback' ? decision.insteadOf.kind : null,
    decided_by: deciderOf(explained),
    rules: triedRules(explained),
    url: urlOf(explained),
    counted: countedAs(explained),
    visitor: presentVisitor(visitor),
    unknown: [...visitor.unknown],
    recorded: click ? { rule: click.rule || null, variant: click.variant || null } : null,
    domain_works: domainWorks,
  }
}

/** In the place of a token: an explanation is no visit, of which a conversion could be reported. */
const TOKEN_PLACEHOLDER = '(token)'

function locationOf(explained: Explained): string | null {
  const { decision } = explained
  if (decision.kind === 'preview') return decision.leadsTo
  const token = tokenOf(explained)
  if (!('location' in decision)) return null
  return token === null ? decision.location : withToken(decision.location, token, TOKEN_PLACEHOLDER)
}

/** Returns the parameter that gets a token; null for none. */
function tokenOf({ decision, tokenParameter }: Explained): string | null {
  return decision.kind === 'redirect' && !isContact(decision.location) ? tokenParameter : null
}

const ENDED: ReadonlySet<Decision['kind']> = new Set(['expired', 'used-up'])

type Decider = ExplanationResource['decided_by']

function deciderOf(explained: Explained): Decider {
  const { decision, link, steps } = explained
  const by = (name: Decider['by']): Decider => ({
    ...{ by: name, rule: null, name: null, variant: null, chosen_by: null },
  })
  switch (decision.kind) {
    case 'redirect': {
      const { outcome } = decision
      return outcome === undefined ? by(steps.field ?? 'url') : byRule(outcome, explained)
    }
    case 'fallback':
      if (!ENDED.has(decision.insteadOf.kind)) return by('domain_not_found_url')
      return by(link.expired_redirect_url === null ? 'domain_expired_url' : 'expired_redirect_url')
    case 'ask-password':
      return by('password')
    case 'expired':
      return by('expires_at')
    case 'used-up':
      return by('max_clicks')
    case 'preview':
      return by(decision.leadsTo === null ? 'max_clicks' : 'preview')
    case 'upcoming':
      return by('active_from')
    case 'loop':
      return by('loop')
    case 'not-found':
    case 'unknown-host':
      return by('domain')
    default:
      return decision satisfies never
  }
}

function byRule({ rule, variant, by }: Outcome, explained: Explained): Decider {
  return {
    by: 'rule',
    rule,
    name: decidedRule(explained)?.name ?? null,
    variant: variant === '' ? null : variant,
    chosen_by: by === 'rule' ? null : by,
  }
}

/** The last rule that was tried is the one that decided. */
function decidedRule({ rules, steps }: Explained): Rule | undefined {
  return rules[steps.tried.length - 1]?.rule
}

function triedRules({ rules, steps }: Explained): TriedRule[] {
  return rules.map(({ of, rule: { id, name = null } }, nth) => {
    const failed = steps.tried[nth]
    const result = failed === undefined ? 'not_tried' : failed === null ? 'decided' : 'failed'
    return { id, name, of, result, failed: failed ?? null }
  })
}

function urlOf(explained: Explained): UrlParts | null {
  const { decision, redirect, link, prepared, path, visitor, steps } = explained
  if (decision.kind === 'fallback') {
    const { location: destination } = decision
    const none = { placeholders: [], path: null, utm: [], query: [], replaced: [], token: null }
    return { destination, ...none }
  }
  if (redirect === undefined || locationOf(explained) === null) return null
  const { outcome } = redirect
  const destination =
    outcome === undefined
      ? (link[steps.field ?? 'url'] ?? link.url)
      : destinationOf(outcome, explained)
  const used = outcome?.template.parameters ?? new Set<string>()
  const values = visitor.rules.query
  return {
    destination,
    placeholders: [
      ...[...used].map((name) => ({
        ...{ of: 'query' as const, name, value: values.get(name)?.[0] ?? '' },
      })),
      ...(link.path === 'capture' ? placeholdersIn(destination, path) : []).map((one) => ({
        of: 'path' as const,
        ...one,
      })),
    ],
    path: link.path === 'append' && path !== undefined ? path.rest : null,
    utm: [
      ...utmOf(prepared, destination),
      ...steps.defaultsAdded.map((added) => ({ ...utmValue(added, 'domain'), replaces: false })),
    ],
    query: queryOf(explained, used),
    replaced: replacedOf(explained),
    token: tokenOf(explained),
  }
}

/** Returns the destination of a rule, or of its variant, as it was set. */
function destinationOf({ variant, template }: Outcome, explained: Explained): string {
  const then = decidedRule(explained)?.then
  const split = then?.split?.find(({ name }) => name === variant)
  return split?.url ?? then?.url ?? template.text
}

function utmOf({ traits: { utm } }: PreparedLink, destination: string): UrlParts['utm'] {
  return utm.flatMap((parameter) => {
    let replaces = false
    const set = withParameters(destination, [parameter], () => {
      replaces = true
    })
    if (set === destination && !replaces) return []
    return [{ ...utmValue(parameter, 'link'), replaces }]
  })
}

function utmValue({ name, text }: Parameter, of: 'link' | 'domain') {
  return { of, name, value: decodeURIComponent(text.slice(name.length + 1)) }
}

function queryOf(
  { visitor, labelParameter, steps, redirect }: Explained,
  used: ReadonlySet<string>,
): UrlParts['query'] {
  const added = new Set(steps.added.map(({ text }) => text))
  const replaced = new Set(
    steps.replacedTexts.flatMap((text) => parseQuery(text)).map(({ name }) => name),
  )
  const isOfPerson = added.size > 0 && redirect?.location === steps.target && replaced.size === 0
  return parseQuery(visitor.rules.source.query).map(({ name, text: parameter }) => {
    const removed = (reason: UrlParts['query'][number]['reason']) =>
      ({ parameter, effect: 'removed', reason }) as const
    if (name === labelParameter) return removed('label')
    if (added.has(parameter)) {
      if (isOfPerson) return removed('address_of_person')
      return { parameter, effect: replaced.has(name) ? 'replaces' : 'added', reason: null }
    }
    if (used.has(name)) return removed('placeholder')
    return removed(parameter === QR_MARK ? 'qr' : 'setting')
  })
}

/** Returns the parameters of the destination that are not in the location. UTM values are set again. */
function replacedOf({ steps, prepared }: Explained): string[] {
  const utm = new Set(prepared.traits.utm.map(({ text }) => text))
  return steps.replacedTexts.filter((text) => !utm.has(text))
}

function countedAs({ decision, visitor }: Explained): ExplanationResource['counted'] {
  if (decision.kind !== 'redirect' && decision.kind !== 'preview')
    return { as: 'nothing', flags: [] }
  // As redirects count a program that only its network or its kind gives away.
  const isUnflagged = visitor.flags === 0 && decision.kind === 'preview'
  const flags = isUnflagged ? CLICK_FLAGS.bot : visitor.flags
  return { as: flags === 0 ? 'click' : 'bot', flags: [...flagNames(flags)] }
}

function presentVisitor({ rules }: ExplainedVisitor): ExplanationResource['visitor'] {
  const { source } = rules
  return {
    at: formatInstant(Math.round(source.atMs * 1000)),
    country: rules.place.country || null,
    region: rules.place.region || null,
    city: rules.place.city || null,
    device: rules.device || null,
    os: [...rules.systems],
    browser: rules.browser || null,
    bot: rules.isBot,
    language: source.acceptLanguage ?? null,
    referrer: rules.referrer || null,
    label: rules.label || null,
    qr: rules.isQr,
  }
}
