import { randomUUID } from 'node:crypto'
import { type PathMode, type QueryMode, UTM_FIELDS } from '@terse/contract/link-fields'
import type { Rule } from '@terse/contract/rules'
import type { LinkDirectory, VisitedLink } from '../links/index.ts'
import { ruleSetSubject } from '../storage/changes.ts'
import { formatParameter, type Parameter, withParameters } from './destination-query.ts'
import type { LinkPreview } from './link-preview.ts'
import { withPlaceholders } from './paths.ts'
import { compileRules, type PreparedRules, type SharedRules, shareRules } from './rules.ts'

/** A link as the redirect needs it: everything that does not depend on the visit is computed when it is loaded. */
export type PreparedLink = {
  readonly seq: number
  readonly workspaceId: string
  readonly key: string
  /** The destination, with the link's UTM values set, as of all its destinations. */
  readonly url: string
  readonly traits: LinkTraits
  /**
   * The `hostsVersion` of the finder when none of its destinations was on a host of this instance: it needs no other
   * check for loops while that is the same. -1 before.
   */
  elsewhereAt: number
}

/** What most links do not have. Those links share one object: its own would be a third of a link's memory. */
export type LinkTraits = {
  readonly ios: string | null
  readonly android: string | null
  /** Milliseconds since the epoch; Infinity for never. */
  readonly expiresAtMs: number
  readonly expiredRedirectUrl: string | null
  readonly password: LinkPassword | null
  readonly rules: PreparedRules | null
  /** Milliseconds since the epoch; 0 for a link that was active from its beginning. */
  readonly activeFromMs: number
  readonly path: PathMode
  /** How many clicks of people it takes; null for any number. */
  readonly maxClicks: number | null
  readonly query: QueryMode
  /** What programs show of it; null where its owners set nothing. */
  readonly preview: LinkPreview | null
  /** Whether its destinations get a token for conversions; null for what its host and its workspace have. */
  readonly tracksConversions: boolean | null
  /** The subject, in the cache, of the rule set that it uses beside its own rules; null for none. */
  readonly ruleSet: string | null
  /** Its UTM values, for what does not have them yet: rule sets, which links share, and a destination without its own query. */
  readonly utm: readonly Parameter[]
}

const NO_UTM: readonly Parameter[] = []

/** The traits of a link of which only the destination was set. */
export const USUAL_TRAITS: LinkTraits = Object.freeze({
  ios: null,
  android: null,
  expiresAtMs: Number.POSITIVE_INFINITY,
  expiredRedirectUrl: null,
  password: null,
  rules: null,
  activeFromMs: 0,
  path: 'none',
  maxClicks: null,
  query: 'merge',
  preview: null,
  tracksConversions: null,
  ruleSet: null,
  utm: NO_UTM,
})

const TRAITS = Object.keys(USUAL_TRAITS) as readonly (keyof LinkTraits)[]

/** What is needed to compare a visitor's password with a link's. */
export type LinkPassword = {
  readonly sealed: string
  readonly linkId: string
  readonly workspaceId: string
}

/**
 * What is cached under a folded key: the one link that has it, whatever its letter case, or that several links have
 * it. Each of those is cached under a name of its own that holds `variantsId`.
 */
export type LinkEntry = PreparedLink | LinkVariants

export type LinkVariants = { readonly variantsId: string }

export function isVariants(entry: LinkEntry): entry is LinkVariants {
  return 'variantsId' in entry
}

/** Memory of one link besides its texts, in bytes, estimated. */
const LINK_BYTES = 300
/** Memory of traits that a link does not share, in bytes, estimated. */
const TRAITS_BYTES = 200
/** Memory that a password adds, in bytes, estimated. */
const PASSWORD_BYTES = 350
/** Memory of a UTM value besides its text, in bytes, estimated. */
const PARAMETER_BYTES = 100
/** Returns undefined where no link has the key in any letter case. */
export async function loadByFoldedKey(
  directory: LinkDirectory,
  keyspaceId: number,
  foldedKey: string,
): Promise<LinkEntry | undefined> {
  const [first, second] = await directory.findByFoldedKey(keyspaceId, foldedKey)
  if (first === undefined) return undefined
  return second === undefined ? prepare(first) : { variantsId: randomUUID() }
}

export async function loadByKey(
  directory: LinkDirectory,
  keyspaceId: number,
  key: string,
): Promise<PreparedLink | undefined> {
  const link = await directory.findByKey(keyspaceId, key)
  return link && prepare(link)
}

/** @param subject as in the change log */
export async function loadRuleSet(
  directory: LinkDirectory,
  subject: string,
): Promise<SharedRules | undefined> {
  const slash = subject.indexOf('/')
  const source = await directory.findRuleSet(subject.slice(0, slash), subject.slice(slash + 1))
  return source && shareRules(source)
}

type StoredLink = Omit<PreparedLink, 'traits'> & {
  /** Undefined for the usual ones. */
  readonly traits?: Omit<LinkTraits, 'expiresAtMs' | 'rules'> & {
    readonly expiresAtMs: number | null
    readonly rules: PreparedRules['source'] | null
  }
}

/** Encodes an entry for a warm start. A change of this format needs a new `FORMAT` of the file. */
export function encodeEntry(entry: LinkEntry): string {
  if (isVariants(entry)) return JSON.stringify(entry.variantsId)
  const { traits, ...link } = entry
  if (traits === USUAL_TRAITS) return JSON.stringify(link)
  return JSON.stringify({ ...link, traits: { ...traits, rules: traits.rules?.source ?? null } })
}

export function decodeEntry(text: string): LinkEntry {
  const decoded: string | StoredLink = JSON.parse(text)
  if (typeof decoded === 'string') return { variantsId: decoded }
  const { seq, workspaceId, key, url, traits } = decoded
  const link = { seq, workspaceId: internId(workspaceId), key, url }
  if (traits === undefined) return { ...link, traits: USUAL_TRAITS, elsewhereAt: -1 }
  // JSON encodes Infinity as null.
  const expiresAtMs = traits.expiresAtMs ?? Number.POSITIVE_INFINITY
  const rules = traits.rules === null ? null : compileRules(traits.rules)
  return { ...link, traits: { ...traits, expiresAtMs, rules }, elsewhereAt: -1 }
}

/** Returns an upper bound of the memory that an entry takes, in bytes. */
export function entryBytes(link: LinkEntry): number {
  if (isVariants(link)) return LINK_BYTES
  const bytes = LINK_BYTES + link.key.length * 2 + link.url.length
  return link.traits === USUAL_TRAITS ? bytes : bytes + traitsBytes(link.traits)
}

function traitsBytes(traits: LinkTraits): number {
  return (
    TRAITS_BYTES +
    (traits.ios?.length ?? 0) +
    (traits.android?.length ?? 0) +
    (traits.expiredRedirectUrl?.length ?? 0) +
    (traits.password === null ? 0 : PASSWORD_BYTES) +
    (traits.ruleSet?.length ?? 0) +
    (traits.preview === null ? 0 : previewBytes(traits.preview)) +
    traits.utm.reduce((sum, { text }) => sum + PARAMETER_BYTES + text.length, 0) +
    (traits.rules?.bytes ?? 0)
  )
}

/** A text with a character beyond Latin-1 takes two bytes for each. */
function previewBytes({ title, description, image }: LinkPreview): number {
  return (
    PARAMETER_BYTES +
    (title?.length ?? 0) * 2 +
    (description?.length ?? 0) * 2 +
    (image?.length ?? 0)
  )
}

export function prepare(link: VisitedLink): PreparedLink {
  const utm = UTM_FIELDS.flatMap((field) => {
    const value = link[field]
    return value === null ? [] : [formatParameter(field, value)]
  })
  const complete = (destination: string) => {
    const withUtm = withParameters(destination, utm)
    return link.path === 'capture' ? withPlaceholders(withUtm) : withUtm
  }
  const completeOrNull = (destination: string | null) => destination && complete(destination)
  const traits: LinkTraits = {
    ios: completeOrNull(link.ios),
    android: completeOrNull(link.android),
    expiresAtMs: link.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(link.expires_at),
    expiredRedirectUrl: link.expired_redirect_url,
    password: link.password === null ? null : passwordOf(link, link.password),
    activeFromMs: link.active_from === null ? 0 : Date.parse(link.active_from),
    path: link.path,
    maxClicks: link.max_clicks,
    query: link.query,
    preview: previewOf(link),
    tracksConversions: link.track_conversions,
    rules: prepareRules(link.rules, complete),
    ruleSet: link.rule_set === null ? null : ruleSetSubject(link.workspace_id, link.rule_set),
    utm: utm.length === 0 ? NO_UTM : utm,
  }
  const isUsual = TRAITS.every((trait) => traits[trait] === USUAL_TRAITS[trait])
  return {
    seq: link.seq,
    workspaceId: internId(link.workspace_id),
    key: link.key,
    url: complete(link.url),
    traits: isUsual ? USUAL_TRAITS : traits,
    elsewhereAt: -1,
  }
}

/** Ids that are kept, more than most instances have; then all are forgotten. */
const INTERNED_MAX = 10_000
const workspaceIds = new Map<string, string>()

/** Returns the same text for equal ids: a text of its own takes 56 bytes for each link. */
function internId(workspaceId: string): string {
  if (workspaceIds.size >= INTERNED_MAX) workspaceIds.clear()
  return workspaceIds.getOrInsert(workspaceId, workspaceId)
}

function previewOf({ title, description, image }: VisitedLink): LinkPreview | null {
  const isEmpty = title === null && description === null && image === null
  return isEmpty ? null : { title, description, image }
}

/** @param complete sets the link's UTM values on a destination, and prepares its placeholders */
function prepareRules(
  rules: readonly Rule[] | null,
  complete: (destination: string) => string,
): PreparedRules | null {
  if (rules === null) return null
  const completed = rules.map(({ then, ...rule }) => ({
    ...rule,
    then: {
      ...then,
      ...(then.url !== undefined && { url: complete(then.url) }),
      ...(then.split && {
        split: then.split.map((variant) => ({ ...variant, url: complete(variant.url) })),
      }),
    },
  }))
  return compileRules(completed)
}

function passwordOf({ id, workspace_id }: VisitedLink, sealed: string): LinkPassword {
  return { sealed, linkId: id, workspaceId: workspace_id }
}
