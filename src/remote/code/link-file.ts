import { type Fault, faultText } from '@terse/contract/faults'
import {
  fromFields,
  LINK_OPTION_FIELDS,
  LINK_TEXT_FIELDS,
  NO_OPTIONS,
  UTM_FIELDS,
} from '@terse/contract/link-fields'
import type { RuleInput } from '@terse/contract/rules'
import type { z } from 'zod'
import { parseDestination, parseHost } from '../../hosts/index.ts'
import { isPlaceholder, type LinkInput, parseLinkInput } from '../../links/index.ts'
import {
  Failure,
  FaultList,
  type FieldFaults,
  faultsFoundBy,
  type Parsed,
} from '../../platform/failure.ts'
import { checkBody } from '../../platform/http/api/validation.ts'
import {
  type DomainEntry,
  domainEntry,
  fileEnvelope,
  type LinkEntry,
  linkEntry,
  ruleSetEntry,
  templateEntry,
} from './file-schema.ts'
import { type FileFault, type FilePath, type Place, SourceText } from './source-text.ts'

export type Values = Readonly<Record<string, unknown>>

/** The fields of a link that have the same form in files and in the API. Not passwords, rules and the rule set. */
export const LINK_FIELDS: readonly string[] = [
  'url',
  ...LINK_TEXT_FIELDS.filter((field) => field !== 'password'),
  'external_id',
  'tags',
  ...LINK_OPTION_FIELDS.filter((field) => field !== 'managed_by' && field !== 'rule_set'),
]

/** The values of a new link. */
export const LINK_DEFAULTS: Values = {
  ...fromFields(LINK_FIELDS, () => null),
  tags: [],
  ...Object.fromEntries(Object.entries(NO_OPTIONS).filter(([name]) => LINK_FIELDS.includes(name))),
}

const NO_UTM: Values = fromFields(UTM_FIELDS, () => null)

/** The values of a new domain, in the order in which plans show them. */
export const DOMAIN_DEFAULTS: Values = {
  not_found_url: null,
  expired_url: null,
  root_url: null,
  robots: null,
  utm: NO_UTM,
  track_conversions: null,
  apple_app_site_association: null,
  assetlinks: null,
}

export const TEMPLATE_DEFAULTS: Values = NO_UTM

/** A thing as the file describes it, with all its values in the form that the service stores. */
export type Wanted = {
  /** The address of a link, else the name. */
  readonly name: string
  readonly values: Values
  /** The rules of a link or a rule set. A rule without an `id` keeps the id that it has, or gets one. */
  readonly rules: readonly RuleInput[]
  /** The name of the rule set that a link or domain uses. */
  readonly ruleSet: string | null
  /** Its place in the file. */
  readonly path: FilePath
}

export type WantedLink = Wanted & {
  readonly domain: string
  readonly key: string
  /** The variable that has its password. */
  readonly passwordFrom: string | null
}

export type LinkFile = {
  readonly set: string
  readonly prevent_delete: boolean
  readonly domains: readonly Wanted[]
  readonly ruleSets: readonly Wanted[]
  readonly templates: readonly Wanted[]
  readonly links: readonly WantedLink[]
  readonly placeOf: (path: FilePath) => Place
}

/**
 * Reads a file, and refuses in it what the service would refuse as far as that shows without the service.
 *
 * @throws {LinkFileError}
 */
export function parseLinkFile(name: string, text: string): LinkFile {
  const source = new SourceText(name, text)
  const read = checkBody(fileEnvelope, source.read(), () => ({}))
  if ('faults' in read) throw source.faultsAt(placed([], read.faults, undefined))
  const { set, prevent_delete = false, tags, ...lists } = read.value
  const faults: FileFault[] = []
  const each = <T extends object>(
    list: keyof typeof lists,
    parse: (entry: unknown) => T,
  ): (T & Pick<Wanted, 'path'>)[] =>
    ((lists[list] as unknown[] | null | undefined) ?? []).flatMap((entry, index) => {
      const path = [list, index]
      try {
        return [{ ...parse(entry), path }]
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        faults.push(...placed(path, error.fields ?? {}, entry))
        return []
      }
    })
  const file = {
    set,
    prevent_delete,
    domains: each('domains', parseDomain),
    ruleSets: each('rule_sets', parseRuleSet),
    templates: each('utm_templates', parseTemplate),
    links: each('links', parseLink),
    placeOf: (path: FilePath) => source.placeOf(path),
  }
  for (const list of [file.domains, file.links]) faults.push(...repeated(list, (text) => text))
  for (const list of [file.ruleSets, file.templates]) faults.push(...repeated(list, foldName))
  if (tags) faults.push(...unlistedTags(file.links, new Set(tags)))
  if (faults.length > 0) throw source.faultsAt(faults)
  return file
}

/** Names of rule sets and templates are unique whatever their letter case. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

function placed(path: FilePath, fields: FieldFaults, entry: unknown): FileFault[] {
  return Object.entries(fields).flatMap(([field, faults]) => {
    const inside = field === 'body' ? [] : field.split('.')
    return faults.map((fault) => ({
      path: [...path, ...inside],
      text: `${faultText(fault)}${quotesHint(fault, inside, entry)}`,
    }))
  })
}

/** Returns advice where YAML has read a text as a number or boolean, such as `2026` or `true`. */
function quotesHint(fault: Fault, inside: readonly string[], entry: unknown): string {
  if (fault.code !== 'wrong_type' || fault.reason !== 'string') return ''
  const value = inside.reduce<unknown>((within, step) => Object(within)[step], entry)
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  return isPlain ? `: write it in quotes, as "${value}"` : ''
}

function repeated(list: readonly Wanted[], fold: (name: string) => string): FileFault[] {
  const seen = new Set<string>()
  return list.flatMap(({ name, path }) => {
    const folded = fold(name)
    if (seen.has(folded)) return [{ path, text: `${name} stands in the file twice` }]
    seen.add(folded)
    return []
  })
}

function unlistedTags(links: readonly WantedLink[], known: ReadonlySet<string>): FileFault[] {
  return links.flatMap(({ path, values }) =>
    (values.tags as readonly string[]).flatMap((tag, index) =>
      known.has(tag)
        ? []
        : [{ path: [...path, 'tags', index], text: `the tag ${tag} is not in the list of tags` }],
    ),
  )
}

/**
 * Checks the shape of an entry, then parses it. Of one with a wrong shape, the other fields are parsed for their faults.
 *
 * @throws {Failure}
 */
function parseEntry<T extends object, R>(
  schema: z.ZodType<T>,
  entry: unknown,
  parse: (right: Partial<T>) => R,
): { readonly given: T; readonly parsed: R } {
  const checked = checkBody(schema, entry, (right) =>
    faultsFoundBy(() => parse(right as Partial<T>)),
  )
  if ('faults' in checked) throw Failure.invalid(checked.faults)
  return { given: checked.value, parsed: parse(checked.value) }
}

type Unplaced<W extends Wanted> = Omit<W, 'path'>

function parseLink(entry: unknown): Unplaced<WantedLink> {
  const { given, parsed } = parseEntry(linkEntry, entry, (right) => parseFields(right, entry))
  const { domain = '', key = '' } = parsed
  const values: Record<string, unknown> = { ...LINK_DEFAULTS }
  for (const field of LINK_FIELDS) {
    const value = (parsed as Values)[field]
    if (value !== undefined) values[field] = value
  }
  if (key.split('/').some(isPlaceholder)) values.path = 'capture'
  return {
    ...{ name: `${domain}/${key}`, domain, key, values },
    rules: withoutMadeIds(parsed.rules ?? [], given.rules ?? []),
    ruleSet: given.rule_set ?? null,
    passwordFrom: given.password?.env ?? null,
  }
}

/**
 * @param entry with the fields of a wrong shape too, which have faults already
 * @throws {Failure}
 */
function parseFields(right: Partial<LinkEntry>, entry: unknown): ReturnType<typeof parseLinkInput> {
  const address = addressOf(right)
  const isWrong = 'faults' in address
  const input = inputOf(right, isWrong ? {} : address)
  const missing = isWrong && 'faults' in addressOf(Object(entry)) ? address.faults : {}
  try {
    const parsed = parseLinkInput(input, rulesFor(right))
    if (Object.keys(missing).length === 0) return parsed
  } catch (error) {
    if (!(error instanceof Failure) || error.fields === undefined) throw error
    const { domain = [], key = [], ...others } = error.fields
    const ofAddress = right.link === undefined ? { domain, key } : { link: [...domain, ...key] }
    const faults = Object.entries({ ...others, ...ofAddress, ...missing })
    throw Failure.invalid(Object.fromEntries(faults.filter(([, list]) => list.length > 0)))
  }
  throw Failure.invalid(missing)
}

type Address = { readonly domain: string; readonly key: string }

function addressOf({ link, domain, key }: Partial<LinkEntry>): Address | { faults: FieldFaults } {
  if (link === undefined) {
    if (domain !== undefined && key !== undefined) return { domain, key }
    const field = domain === undefined ? (key === undefined ? 'link' : 'domain') : 'key'
    return { faults: { [field]: [{ code: 'required' }] } }
  }
  if (domain !== undefined || key !== undefined) {
    const field = domain === undefined ? 'key' : 'domain'
    return { faults: { [field]: [{ code: 'incompatible', reason: 'never', other: 'link' }] } }
  }
  const [, host = '', path = ''] = /^(?:https?:\/\/)?([^/]*)(?:\/(.*))?$/is.exec(link) ?? []
  return { domain: host, key: path }
}

function inputOf(entry: Partial<LinkEntry>, address: Partial<Address>): LinkInput {
  const { link: _, domain: __, key: ___, password, rule_set, rules, ...fields } = entry
  return { ...fields, ...address, ...(rules !== undefined && { rules }) }
}

/** Returns rules that allow what depends on the service's configuration, such as the schemes of apps: it checks them itself. */
function rulesFor({ ios, android, rules }: Partial<Pick<LinkEntry, 'ios' | 'android' | 'rules'>>) {
  const urls = [
    ios,
    android,
    ...(rules ?? []).flatMap(({ then }) => [
      then?.url,
      ...(then?.split ?? []).map(({ url }) => url),
    ]),
  ]
  return {
    appSchemes: urls.flatMap((url) => URL.parse(url ?? '')?.protocol.slice(0, -1) ?? []),
    hasCities: true,
    random: (bytes: number) => new Uint8Array(bytes),
    parseDomain: parseLinkDomain,
  }
}

/** A name without a dot can be the service's own host alone, which the service decides. */
function parseLinkDomain(text: string): Parsed<string> {
  const parsed = parseHost(text)
  const isName = 'fault' in parsed && /^[a-z0-9-]+$/i.test(text)
  return isName ? { value: text.toLowerCase() } : parsed
}

function withoutMadeIds(rules: readonly RuleInput[], given: readonly RuleInput[]): RuleInput[] {
  return rules.map((rule, index) => {
    const { id, ...rest } = rule
    return given[index]?.id === undefined ? rest : { id, ...rest }
  })
}

function parseDomain(entry: unknown): Unplaced<Wanted> {
  const { given, parsed } = parseEntry(domainEntry, entry, parseHosts)
  const { domain: _, rule_set, utm, ...settings } = given
  const { domain: name = '', ...urls } = parsed
  const values = { ...DOMAIN_DEFAULTS, ...settings, ...urls, utm: { ...NO_UTM, ...utm } }
  return { name, values, rules: [], ruleSet: rule_set ?? null }
}

const DOMAIN_URLS = ['not_found_url', 'expired_url', 'root_url'] as const

/** @throws {Failure} */
function parseHosts(right: Partial<DomainEntry>): Readonly<Record<string, string>> {
  const faults = new FaultList()
  const taken: Record<string, string> = {}
  const take = (field: string, parsed: Parsed<string>) => {
    const value = faults.take(field, parsed)
    if (value !== undefined) taken[field] = value
  }
  if (right.domain !== undefined) take('domain', parseHost(right.domain))
  for (const field of DOMAIN_URLS) {
    const url = right[field]
    if (url) take(field, parseDestination(url))
  }
  faults.throwIfAny()
  return taken
}

function parseRuleSet(entry: unknown): Unplaced<Wanted> {
  const { given, parsed } = parseEntry(ruleSetEntry, entry, ({ rules }) =>
    parseLinkInput({ rules }, rulesFor({ rules })),
  )
  const rules = withoutMadeIds(parsed.rules ?? [], given.rules)
  return { name: given.name, values: {}, rules, ruleSet: null }
}

function parseTemplate(entry: unknown): Unplaced<Wanted> {
  const { given } = parseEntry(templateEntry, entry, () => undefined)
  const { name, ...utm } = given
  return { name, values: { ...TEMPLATE_DEFAULTS, ...utm }, rules: [], ruleSet: null }
}
