import { domainPage, type IncludingDomain } from '@terse/contract/domains'
import { type IncludingLink, linkPage } from '@terse/contract/links'
import { ruleSetPage } from '@terse/contract/rule-sets'
import type { Rule } from '@terse/contract/rules'
import { utmTemplatePage } from '@terse/contract/utm-templates'
import type { z } from 'zod'
import { waitForAll } from '../../platform/work/async.ts'
import type { ApiClient } from '../api-client.ts'
import { RemoteFault } from '../login-file.ts'
import { DOMAIN_DEFAULTS, LINK_FIELDS, TEMPLATE_DEFAULTS, type Values } from './link-file.ts'

const PER_PAGE = 100
/** Links that are looked for one by one in any case; more only where their domains have more pages of links to read. */
const LOOK_UPS_MAX = 100
/** Requests at a time: each takes its turn at the service. */
const CONCURRENCY = 4

/** A thing as the service has it. */
export type Found = {
  readonly id: string
  readonly name: string
  readonly values: Values
  readonly rules: readonly Rule[]
  /** The id of the rule set that it uses. */
  readonly ruleSet: string | null
  /** The set that it belongs to. */
  readonly managed_by: string | null
  readonly managed_at: string | null
  readonly updated_at: string
}

export type FoundLink = Found & {
  /** Where it is now. Its name is where its set has put it. */
  readonly domain: string
  readonly key: string
  readonly hasPassword: boolean
}

export type WorkspaceState = {
  /** Undefined where the token may not read them. */
  readonly domains: readonly Found[] | undefined
  readonly ruleSets: readonly Found[]
  readonly templates: readonly Found[]
  readonly links: readonly FoundLink[]
}

/** Reads the domains, rule sets and templates of the workspace. */
export async function readSurroundings(client: ApiClient): Promise<Omit<WorkspaceState, 'links'>> {
  const [domains, ruleSets, templates] = await waitForAll([
    readDomains(client),
    readPages(client, '/rule-sets', ruleSetPage),
    readPages(client, '/utm-templates', utmTemplatePage),
  ])
  return {
    domains,
    ruleSets: ruleSets.map((set) => ({ ...set, values: {}, ruleSet: null })),
    templates: templates.map((template) => ({
      ...template,
      values: pick(template, TEMPLATE_DEFAULTS),
      rules: [],
      ruleSet: null,
    })),
  }
}

async function readDomains(client: ApiClient): Promise<readonly Found[] | undefined> {
  try {
    const domains = await readPages(client, '/domains', domainPage, { include: 'settings' })
    return domains.map(({ id, domain, settings, ...fields }) => {
      if (settings === undefined) throw tooOld()
      const { rule_set, managed_by, managed_at, updated_at } = settings
      return {
        ...{ id, name: domain, rules: [], ruleSet: rule_set, managed_by, managed_at },
        values: pick({ ...fields, ...settings }, DOMAIN_DEFAULTS),
        updated_at: updated_at ?? fields.updated_at,
      }
    })
  } catch (error) {
    if (error instanceof RemoteFault && error.code === 'missing_scope') return undefined
    throw error
  }
}

/** Reads the domains without their settings. */
export function readDomainStates(client: ApiClient): Promise<IncludingDomain[]> {
  return readPages(client, '/domains', domainPage)
}

/** Reads the links of a filter, with their options and rules. */
export async function readLinks(
  client: ApiClient,
  filter: Readonly<Record<string, string | readonly string[]>>,
  onPage: (count: number) => void = () => {},
): Promise<FoundLink[]> {
  const links: FoundLink[] = []
  let cursor: string | null | undefined = ''
  while (typeof cursor === 'string') {
    const query = { ...filter, ...WHOLE, per_page: PER_PAGE, cursor }
    const page: z.output<typeof linkPage> = await client.get('/links', linkPage, query)
    for (const link of page.data) links.push(foundLink(link))
    onPage(links.length)
    cursor = page.meta.next_cursor
  }
  return links
}

const WHOLE = { include: 'options,rules', archived: 'any' }

type Address = { readonly domain: string; readonly key: string; readonly name: string }

/** Finds the links at addresses, whichever set they belong to. */
export async function findLinks(
  client: ApiClient,
  addresses: readonly Address[],
): Promise<FoundLink[]> {
  const look = async (some: readonly Address[]) => {
    const found = await mapSome(some, ({ domain, key }) =>
      client.get('/links', linkPage, { domain, key, ...WHOLE }),
    )
    return found.flatMap(({ data }) => data.map(foundLink))
  }
  if (addresses.length <= LOOK_UPS_MAX) return look(addresses)
  const taken = await takenAddresses(client, [...new Set(addresses.map(({ domain }) => domain))])
  const there = addresses.filter(({ name }) => taken === undefined || taken.has(name))
  const pages = taken === undefined ? Number.POSITIVE_INFINITY : taken.size / PER_PAGE
  if (there.length <= Math.max(LOOK_UPS_MAX, pages)) return look(there)
  const names = new Set(there.map(({ name }) => name))
  const links: FoundLink[] = []
  for (const domain of new Set(there.map((address) => address.domain))) {
    links.push(...(await readLinks(client, { domain })).filter(({ name }) => names.has(name)))
  }
  return links
}

/** Lists the addresses of all links of domains, in one request for each; undefined where a domain has too many. */
async function takenAddresses(
  client: ApiClient,
  domains: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  const taken = new Set<string>()
  for (const domain of domains) {
    const query = { format: 'ndjson', fields: 'domain,key', archived: 'any', domain }
    let lines: string
    try {
      lines = (await client.bytes('/links/export', query)).toString('utf8').trimEnd()
    } catch (error) {
      // More bytes or seconds than the client takes; what the API refuses has a code.
      if (error instanceof RemoteFault && error.code === undefined) return undefined
      throw error
    }
    if (lines === '') continue
    for (const line of lines.split('\n')) {
      const { domain: host, key } = JSON.parse(line)
      taken.add(`${host}/${key}`)
    }
  }
  return taken
}

function foundLink(link: IncludingLink): FoundLink {
  const { id, domain, key, options, rules, password, updated_at } = link
  if (options === undefined || rules === undefined) {
    throw tooOld()
  }
  return {
    ...{ id, name: `${domain}/${key}`, domain, key, rules, updated_at },
    values: pick({ ...link, ...options }, LINK_VALUES),
    ruleSet: options.rule_set,
    hasPassword: password !== null,
    managed_by: options.managed_by,
    managed_at: options.managed_at,
  }
}

function tooOld(): RemoteFault {
  return new RemoteFault('This service is too old for links as code. Upgrade it.')
}

const LINK_VALUES: Values = Object.fromEntries(LINK_FIELDS.map((field) => [field, null]))

/** Returns the values with these names; the default for one that the service does not show. */
function pick(from: Values, defaults: Values): Values {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, usual]) => [name, from[name] ?? usual]),
  )
}

async function readPages<T>(
  client: ApiClient,
  path: string,
  schema: z.ZodType<{ data: T[]; meta: { last_page: number } }>,
  included: { readonly include?: string } = {},
): Promise<T[]> {
  const items: T[] = []
  for (let page = 1, last = 1; page <= last; page += 1) {
    const { data, meta } = await client.get(path, schema, { page, per_page: PER_PAGE, ...included })
    items.push(...data)
    last = meta.last_page
  }
  return items
}

/** Like `Promise.all` over `map`, with a few at a time. */
export async function mapSome<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length)
  const rest = items.entries()
  const worker = async () => {
    for (const [index, item] of rest) results[index] = await work(item)
  }
  await waitForAll(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker))
  return results
}
