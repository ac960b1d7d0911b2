import { optionInputs } from '@terse/contract/link-options'
import { z } from 'zod'
import type { CallApi, Permission, Query } from '../identity/index.ts'
import { keyOfPath } from '../links/index.ts'
import { isUuid } from '../platform/crypto/random.ts'

/** Why a tool did nothing, in words for the model. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
}

/** What a tool returns to the model: data, or a picture. */
export type ToolResult =
  | { readonly data: unknown }
  | { readonly picture: Buffer; readonly type: string; readonly data: unknown }

/** What a model may do, in words that it understands. */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  /** An assistant without it is not offered the tool. The operation behind it checks it again. */
  readonly permission: Permission
  readonly effect: 'reads' | 'adds' | 'changes' | 'destroys'
  readonly input: z.ZodObject
  run(call: CallApi, input: never): Promise<ToolResult>
}

/** Keeps the type of the input between its schema and `run`. */
function tool<Input extends z.ZodObject>(
  definition: Omit<Tool, 'input' | 'run'> & {
    readonly input: Input
    run(call: CallApi, input: z.output<Input>): Promise<ToolResult>
  },
): Tool {
  return definition
}

const LINKS_MAX = 50
const LISTED_FIELDS = 'id,link,url,tags,clicks,last_click,expires_at,created_at'
/** Enough to recognise a destination in a list. */
const LISTED_TEXT_MAX = 300
const GROUPS_MAX = 50

const link = z
  .string()
  .min(1)
  .describe(
    'The short address, such as `go.acme.com/sale` or `https://go.acme.com/sale`, or the id.',
  )

const writable = {
  tags: z.array(z.string()).max(50).optional().describe('Tags; they replace those of before.'),
  expires_at: z
    .string()
    .nullable()
    .optional()
    .describe('When it ends, as ISO 8601 with a zone; null for never.'),
  password: z.string().nullable().optional().describe('What visitors must type; null for none.'),
  ios: z.string().nullable().optional().describe('Another destination for iPhones and iPads.'),
  android: z.string().nullable().optional().describe('Another destination for Android devices.'),
  utm_source: z.string().nullable().optional().describe('Added to the destination.'),
  utm_medium: z.string().nullable().optional(),
  utm_campaign: z.string().nullable().optional(),
  utm_term: z.string().nullable().optional(),
  utm_content: z.string().nullable().optional(),
  notes: optionInputs.notes,
  max_clicks: optionInputs.max_clicks,
}

const period = {
  from: z
    .string()
    .optional()
    .describe('Start: a date such as `2026-11-01`, or an instant. 30 days before `to` by default.'),
  to: z.string().optional().describe('End, exclusive. Now by default.'),
  timezone: z.string().optional().describe('IANA name, such as `Europe/Berlin`. UTC by default.'),
  interval: z.enum(['hour', 'day', 'month']).optional().describe('Counts by time.'),
  limit: z
    .int()
    .min(1)
    .max(GROUPS_MAX)
    .optional()
    .describe('Values with `group_by`; 10 by default.'),
}

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'find_links',
    title: 'Find links',
    description:
      'Lists short links, newest first, with their clicks. Use `search` for a part of the short address, the destination, a tag or the notes. Long destinations are cut; `get_link` has them whole.',
    permission: 'links.view',
    effect: 'reads',
    input: z.strictObject({
      search: z.string().min(1).max(200).optional(),
      domain: z.string().optional().describe('Only on this host name.'),
      tags: z.array(z.string()).max(10).optional().describe('Only links with all of these tags.'),
      state: z.enum(['active', 'expired', 'protected']).optional(),
      sort: z
        .enum(['-created_at', '-updated_at', '-clicks', '-last_click', 'key'])
        .optional()
        .describe('`-clicks`: the most clicked first.'),
      limit: z.int().min(1).max(LINKS_MAX).optional().describe('20 by default.'),
      page: z.int().min(1).optional(),
    }),
    async run(call, { tags, limit = 20, ...query }) {
      const { data, meta } = await call.get<LinkPage>('/links', {
        ...query,
        tag: tags,
        per_page: limit,
        fields: LISTED_FIELDS,
      })
      return { data: { total: meta.total, pages: meta.last_page, links: data.map(shortened) } }
    },
  }),

  tool({
    name: 'get_link',
    title: 'Show a link',
    description:
      'Returns all of one link: its destination, options, and the rules that send some visitors elsewhere.',
    permission: 'links.view',
    effect: 'reads',
    input: z.strictObject({ link }),
    async run(call, input) {
      const found = await findLink(call, input.link)
      const [shown, rules] = await Promise.all([
        call.get(`/links/${found.id}`, { include: 'options' }),
        call.get(`/links/${found.id}/rules`),
      ])
      return { data: { ...shownLink(shown), ...(rules as object) } }
    },
  }),

  tool({
    name: 'create_link',
    title: 'Create a link',
    description:
      'Makes a short link and returns it. Give the user its `link`. Leave `domain` out for the usual domain of the workspace, and `key` out for a short random one.',
    permission: 'links.edit',
    effect: 'adds',
    input: z.strictObject({
      url: z.string().describe('The destination: an absolute http or https address.'),
      domain: z.string().optional().describe('A host name of the workspace, see `list_domains`.'),
      key: z.string().optional().describe('The path, such as `sale`.'),
      ...writable,
    }),
    async run(call, { domain, ...fields }) {
      const host = domain ?? (await usualDomain(call))
      return { data: shownLink(await call.post('/links', { ...fields, domain: host })) }
    },
  }),

  tool({
    name: 'update_link',
    title: 'Change a link',
    description:
      'Changes the fields that are given and keeps the others. A changed `key` or `domain` gives the link another address; the old one stops working.',
    permission: 'links.edit',
    effect: 'changes',
    input: z.strictObject({
      link,
      url: z.string().optional().describe('The new destination.'),
      domain: z.string().optional().describe('The new host name.'),
      key: z.string().optional().describe('The new path.'),
      ...writable,
    }),
    async run(call, { link: address, ...changes }) {
      const { id } = await findLink(call, address)
      return { data: shownLink(await call.patch(`/links/${id}`, changes)) }
    },
  }),

  tool({
    name: 'set_rules',
    title: 'Set the rules of a link',
    description:
      'Replaces all rules of a link; read them with `get_link` first and send those that stay. The first rule whose conditions all hold decides; else the destination of the link. A rule: {"name": "Germany", "when": {"country": ["DE"]}, "then": {"url": "https://acme.com/de"}}. Conditions, each a list of which one value suffices: country (ISO codes, "EU"), device ("phone", "tablet", "desktop"), os ("ios", "android", "windows", "macos", "linux"), browser, language ("de"), query ([{"name": "vip", "equals": "1"}]), referrer (hosts), time, label; and {"not": {…}}. Instead of a url: {"split": [{"name": "A", "url": "…", "weight": 50}, {"name": "B", "url": "…", "weight": 50}]}. Check with `explain_visit` afterwards.',
    permission: 'links.edit',
    effect: 'changes',
    input: z.strictObject({ link, rules: z.array(z.looseObject({})).max(50) }),
    async run(call, { link: address, rules }) {
      const { id } = await findLink(call, address)
      return { data: await call.put(`/links/${id}/rules`, { rules }) }
    },
  }),

  tool({
    name: 'delete_link',
    title: 'Delete a link',
    description:
      'Deletes a link for good: its address stops working and its clicks are erased. Ask the user before. To stop it for a time, set `expires_at` with `update_link`.',
    permission: 'links.delete',
    effect: 'destroys',
    input: z.strictObject({ link }),
    async run(call, input) {
      const { id, link: address } = await findLink(call, input.link)
      await call.delete(`/links/${id}`)
      return { data: { deleted: address } }
    },
  }),

  tool({
    name: 'explain_visit',
    title: 'Explain a visit',
    description:
      'Tells where a visitor of a link would be sent and why: rule by rule, for a visitor as you describe them. Counts no click. Without a visitor: one of whom nothing is known.',
    permission: 'links.view',
    effect: 'reads',
    input: z.strictObject({
      link,
      country: z.string().optional().describe('ISO 3166-1 code such as `DE`.'),
      agent: z.string().optional().describe('The `User-Agent` header of their browser.'),
      language: z.string().optional().describe('The `Accept-Language` header, such as `de`.'),
      query: z.string().optional().describe('The query of the visited address, as `a=1&b=2`.'),
      referrer: z.string().optional().describe('The page that they come from.'),
      at: z.string().optional().describe('An ISO 8601 instant; else now.'),
    }),
    async run(call, { link: address, ...visitor }) {
      const { id } = await findLink(call, address)
      const { examples: _, ...explanation } = await call.post<{ examples: unknown }>(
        `/links/${id}/explain`,
        visitor,
      )
      return { data: explanation }
    },
  }),

  tool({
    name: 'get_clicks',
    title: 'Count clicks',
    description:
      'Counts clicks of people in a period: by `interval`, by `group_by`, or as a sum per day without both. Of one link, of one tag, or of the workspace.',
    permission: 'clicks.view',
    effect: 'reads',
    input: z.strictObject({
      link: link.optional().describe('The short address or id; else all links.'),
      tag: z.string().optional().describe('Only links with this tag.'),
      ...period,
      group_by: z
        .enum(['link', 'country', 'device', 'os', 'browser', 'referrer', 'language', 'source'])
        .or(z.enum(['rule', 'variant', 'label', 'tag', 'utm_source', 'utm_medium', 'utm_campaign']))
        .optional(),
    }),
    run: async (call, input) => ({ data: await report(call, '/clicks', input) }),
  }),

  tool({
    name: 'get_conversions',
    title: 'Count conversions',
    description:
      'Counts what visitors did afterwards, such as orders, with their value in minor units (cents) by currency, for links that track it.',
    permission: 'conversions.view',
    effect: 'reads',
    input: z.strictObject({
      link: link.optional().describe('The short address or id; else all links.'),
      event: z.string().optional().describe('Only this event, such as `order`.'),
      ...period,
      group_by: z
        .enum(['event', 'currency', 'country', 'rule', 'variant', 'label', 'tag', 'link'])
        .optional(),
    }),
    run: async (call, { interval, group_by, ...input }) => ({
      data: await report(call, '/conversions', {
        ...input,
        group_by,
        interval: interval ?? (group_by === undefined ? 'day' : undefined),
      }),
    }),
  }),

  tool({
    name: 'get_qr_code',
    title: 'Draw a QR code',
    description: 'Returns the QR code of a link as a PNG picture.',
    permission: 'links.view',
    effect: 'reads',
    input: z.strictObject({
      link,
      size: z.int().min(64).max(1024).optional().describe('Pixels; about 480 by default.'),
      color: z.string().optional().describe('`#RRGGBB`; black by default.'),
    }),
    async run(call, { link: address, ...query }) {
      const { id, link: shown } = await findLink(call, address)
      const { bytes, type } = await call.file(`/links/${id}/qr-code`, query)
      return { picture: bytes, type, data: { link: shown } }
    },
  }),

  tool({
    name: 'list_domains',
    title: 'List domains',
    description: 'Lists the host names on which the workspace makes links, and whether they work.',
    permission: 'domains.view',
    effect: 'reads',
    input: z.strictObject({ page: z.int().min(1).optional() }),
    async run(call, { page }) {
      const [{ data, meta }, usual] = await Promise.all([
        call.get<{ data: Domain[]; meta: object }>('/domains', { page, per_page: 100 }),
        call.get<{ domain: string | null }>('/default-domain'),
      ])
      const domains = data.map(({ id, domain, status }) => ({ id, domain, status }))
      return { data: { domains, usual: usual.domain, meta } }
    },
  }),

  tool({
    name: 'diagnose_domain',
    title: 'Diagnose a domain',
    description:
      'Tells what prevents a domain from working: which DNS records it needs and what is found in their place, and its HTTPS certificate.',
    permission: 'domains.view',
    effect: 'reads',
    input: z.strictObject({ domain: z.string().describe('A host name of the workspace.') }),
    async run(call, { domain }) {
      const { data } = await call.get<{ data: Domain[] }>('/domains', { domain })
      const [found] = data
      if (found === undefined) throw new ToolFault(`${domain} is no domain of this workspace.`)
      const [dns, https] = await Promise.all([
        call.get(`/domains/${found.id}/dns`),
        call.get(`/domains/${found.id}/https`),
      ])
      return { data: { domain: found.domain, status: found.status, dns, https } }
    },
  }),
]

type Domain = { readonly id: string; readonly domain: string; readonly status: string }
type LinkPage = { data: object[]; meta: { total: number; last_page: number } }
type FoundLink = { readonly id: string; readonly link: string }

/** Finds a link by its id or by its address as people write it. */
async function findLink(call: CallApi, text: string): Promise<FoundLink> {
  if (isUuid(text.toLowerCase())) {
    return call.get<FoundLink>(`/links/${text.toLowerCase()}`)
  }
  const [, domain = '', path = ''] = /^(?:https?:\/\/)?([^/?#]+)(\/[^?#]+)/i.exec(text.trim()) ?? []
  const key = keyOfPath(path)
  if (domain === '' || key === undefined) {
    throw new ToolFault(`${text} is neither the address of a short link nor an id.`)
  }
  const query = { domain: domain.replace(/:\d+$/, ''), key, fields: 'id,link' }
  const { data } = await call.get<{ data: FoundLink[] }>('/links', query)
  const [found] = data
  if (found === undefined) throw new ToolFault(`There is no link ${text} in this workspace.`)
  return found
}

async function usualDomain(call: CallApi): Promise<string> {
  const { domain } = await call.get<{ domain: string | null }>('/default-domain')
  if (domain !== null) return domain
  throw new ToolFault('The workspace has no usual domain. Send `domain`; `list_domains` has them.')
}

async function report(
  call: CallApi,
  path: string,
  { link: address, ...query }: Query & { readonly link?: string | undefined },
): Promise<unknown> {
  if (address === undefined) return call.get(path, query)
  const { id } = await findLink(call, address)
  return call.get(path, { ...query, link: id })
}

function shortened(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [
        name,
        typeof value === 'string' && value.length > LISTED_TEXT_MAX
          ? `${value.slice(0, LISTED_TEXT_MAX)}…`
          : value,
      ]),
  )
}

/** A link for a model: without fields that are not set, and without the sealed password, which is of no use to it. */
function shownLink(body: unknown): object {
  const { password = null, ...fields } = body as { readonly password?: unknown }
  const set = Object.entries(fields).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(set), ...(password !== null && { has_password: true }) }
}
