import type { ExampleInput } from '@terse/contract/explain'
import {
  LINK_OPTION_FIELDS,
  LINK_TEXT_FIELDS,
  LINK_TEXTS,
  type LinkOptions,
  type LinkText,
  type LinkTextKind,
  NO_OPTIONS,
} from '@terse/contract/link-fields'
import type { RuleInput } from '@terse/contract/rules'
import { parseDestination, parseHost, type ServiceName } from '../hosts/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import { Failure, FaultList, type Parsed } from '../platform/failure.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import { canonicalInstant } from '../platform/time/clock.ts'
import { parseExamples } from './examples.ts'
import { parseKey } from './key.ts'
import { boundToLink, type Link, type LinkAttributes } from './link.ts'
import { parseRules } from './rules.ts'

const TAGS_MAX = 50

/** The body of a create or an update: an omitted field stays unchanged, null clears it. */
export type LinkInput = {
  readonly domain?: string | undefined
  readonly url?: string | undefined
  readonly key?: string | null | undefined
  readonly external_id?: number | null | undefined
  readonly tags?: readonly string[] | null | undefined
  /** As the contract accepts them; none, or null, for no rules. */
  readonly rules?: readonly RuleInput[] | null | undefined
  /** As the contract accepts them; none, or null, for no examples. */
  readonly examples?: readonly ExampleInput[] | null | undefined
} & { readonly [F in LinkText]?: string | null | undefined } & {
  /** Null restores what a new link has. */
  readonly [F in keyof LinkOptions]?: LinkOptions[F] | null | undefined
}

/** The changes of an input in their stored form, except the password, which is still as sent. */
export type LinkChanges = Partial<LinkAttributes> & {
  readonly domain?: string
  readonly key?: string
}

/** The operator's rules for links. */
export type LinkRules = {
  /** URL schemes that `ios` and `android` may have, in addition to http and https. */
  readonly appSchemes: readonly string[]
  /** Whether visitors have cities. */
  readonly hasCities: boolean
  /** Makes the ids of rules. */
  readonly random: Random
  readonly parseDomain: (text: string) => Parsed<string>
}

/** @throws {Failure} `validation_failed` naming every field that is wrong */
export function parseLinkInput(input: LinkInput, rules: LinkRules): LinkChanges {
  const faults = new FaultList()
  const changes: { -readonly [K in keyof LinkChanges]: LinkChanges[K] } = {}

  function change<F extends keyof LinkChanges, T>(
    field: F,
    value: T | null | undefined,
    parse: (value: T) => Parsed<NonNullable<LinkChanges[F]>>,
  ): void {
    if (value === undefined) return
    if (value === null) {
      changes[field] = null as LinkChanges[F]
      return
    }
    const parsed = faults.take(field, parse(value))
    if (parsed !== undefined) changes[field] = parsed
  }

  change('domain', input.domain, rules.parseDomain)
  if (input.key !== null) change('key', input.key, parseKey)
  change('url', input.url, (text) => parseDestination(text))
  change('external_id', input.external_id, (value: number) => ({ value }))
  for (const field of LINK_TEXT_FIELDS) {
    change(field, input[field], (text: string) => TEXT_PARSERS[LINK_TEXTS[field].kind](text, rules))
  }
  for (const field of LINK_OPTION_FIELDS) {
    if (input[field] !== undefined)
      Object.assign(changes, { [field]: input[field] ?? NO_OPTIONS[field] })
  }
  change('active_from', input.active_from, parseInstant)
  change('image', input.image, parseImageUrl)
  if (input.tags !== undefined) change('tags', input.tags ?? [], parseTags)
  if (input.rules !== undefined) {
    const parsed = parseRules(input.rules ?? [], rules, faults)
    changes.rules = parsed.length === 0 ? null : parsed
  }

  if (input.examples !== undefined) changes.examples = parseExamples(input.examples ?? [], faults)

  faults.throwIfAny()
  return changes
}

/** A password is sealed later. */
const TEXT_PARSERS: {
  readonly [K in LinkTextKind]: (text: string, rules: LinkRules) => Parsed<string>
} = {
  destination: (text) => parseDestination(text),
  app_destination: (text, { appSchemes }) => parseDestination(text, appSchemes),
  instant: parseInstant,
  utm: (value) => ({ value }),
  password: (value) => ({ value }),
}

function parseInstant(text: string): Parsed<string> {
  const value = canonicalInstant(text)
  return value === undefined ? { fault: { code: 'invalid_instant' } } : { value }
}

/** Messengers load pictures only over HTTPS, or warn of them. */
function parseImageUrl(text: string): Parsed<string> {
  const parsed = parseDestination(text)
  if ('fault' in parsed || parsed.value.startsWith('https:')) return parsed
  return { fault: { code: 'wrong_scheme', allowed: 'https://' } }
}

function parseTags(tags: readonly string[]): Parsed<readonly string[]> {
  const distinct = [...new Set(tags)]
  if (distinct.length > TAGS_MAX) return { fault: { code: 'too_many', max: TAGS_MAX } }
  return { value: distinct }
}

/** Parses a host that links may have: one that a workspace may add, or the service's own host. */
export function parseLinkHost(text: string, service: ServiceName): Parsed<string> {
  const isService = text.toLowerCase().replace(/\.$/, '') === service.host
  return isService ? { value: service.host } : parseHost(text)
}

/** Returns the new value of `password` for a link as the transaction has read it; empty when unchanged. */
type PasswordChange = (current: Pick<Link, 'password'>) => Partial<Pick<Link, 'password'>>

/**
 * Prepares the change of a password field. Call it before the transaction that writes the link: hashing
 * the text is slow. The link's own sealed string, as the API returns it, keeps the password.
 */
export async function passwordChange(
  vault: PasswordVault,
  text: string | null | undefined,
  link: Pick<Link, 'id' | 'workspace_id'>,
): Promise<PasswordChange> {
  if (text === undefined) return () => ({})
  if (text === null) return () => ({ password: null })
  if (!vault.isSealed(text)) {
    const owner = `workspace ${link.workspace_id}`
    const password = await vault.seal(text, { boundTo: boundToLink(link.id), owner })
    return () => ({ password })
  }
  return (current) => {
    if (text !== current.password) throw foreignSeal()
    return {}
  }
}

/** Like `passwordChange`: gives a link that has no password a random one. */
export function unknownPassword(vault: PasswordVault, link: Pick<Link, 'id'>): PasswordChange {
  return (current) =>
    current.password === null ? { password: vault.sealUnknown(boundToLink(link.id)) } : {}
}

/** Hashing such a string as text would set a password that no visitor knows. */
function foreignSeal(): Failure {
  return Failure.invalid({ password: [{ code: 'sealed_elsewhere' }] })
}

/** Tags to add to those of a link, and to take from them. */
export type EditedTags = { readonly add: readonly string[]; readonly remove: readonly string[] }

/**
 * The tags in their order, without those removed, then those added.
 *
 * @throws {Failure} `validation_failed` for more than a link may have
 */
export function editTags(tags: readonly string[], { add, remove }: EditedTags): readonly string[] {
  const gone = new Set(remove)
  const edited = [...new Set([...tags.filter((tag) => !gone.has(tag)), ...add])]
  if (edited.length > TAGS_MAX) {
    throw Failure.invalid({ add_tags: [{ code: 'too_many_tags', max: TAGS_MAX }] })
  }
  return edited
}
