import { PNG } from 'pngjs'
import { type Access, isOperation, OPERATION_ACCESS } from '../../src/identity/permissions.ts'
import { apiClient } from './api.ts'

export const PREFIX = '/api/v1'
export const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'

/** An operation of the API description. */
export type Operation = {
  readonly name: string
  readonly method: string
  /** With `{id}` in it, and without the prefix. */
  readonly template: string
  /** The resource whose id it takes, if any. */
  readonly family:
    | 'links'
    | 'domains'
    | 'default-domain'
    | 'labels'
    | 'conversions'
    | 'clicks'
    | 'workspace'
    | 'events'
    | 'tags'
    | 'utm-templates'
    | 'rule-sets'
    | 'previews'
    | 'images'
    | 'imports'
    | 'webhooks'
  readonly takesId: boolean
  /** Undefined where the operation takes no body. */
  readonly validBody: Readonly<Record<string, unknown>> | readonly unknown[] | undefined
  /** The described statuses, with their media types and schemas. */
  readonly responses: Readonly<Record<string, DescribedResponse>>
  /** Another valid body, where there is one. */
  readonly otherBody: Readonly<Record<string, unknown>> | readonly unknown[] | undefined
  readonly bodyBytesMax: number
  /** The status of its success. */
  readonly success: number
  /** With the query of a valid request. */
  pathFor(id: string): string
}

type DescribedResponse = {
  readonly content: Readonly<
    Record<string, { readonly schema: object; readonly example?: unknown }>
  >
  readonly headers?: Readonly<Record<string, object>>
}

type DescribedOperation = {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  /** The schemes of which one is needed; empty for operations that are open to all. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, object>>
  }
  readonly responses: Readonly<Record<string, DescribedResponse>>
}

export type Description = {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly headers: Readonly<Record<string, { readonly description?: string }>>
  }
}

/** Fetches the description from a service, without a token. */
export async function readDescription(baseUrl: string): Promise<Description> {
  const { body } = await apiClient(baseUrl, undefined).get('/openapi.json')
  return body
}

/** An operation of the description and what it needs. */
export type AccessedOperation = {
  readonly name: string
  readonly id: string
  readonly method: string
  /** With `{id}` in it, and without the prefix. */
  readonly template: string
  readonly access: Access
}

/** Every operation of the description, so that a table built from it is complete. */
export async function readEveryOperation(baseUrl: string): Promise<readonly AccessedOperation[]> {
  const { paths } = await readDescription(baseUrl)
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, { operationId: id }]) => {
      if (!isOperation(id)) throw new Error(`${id} has no access`)
      const method = verb.toUpperCase()
      const template = path.slice(PREFIX.length)
      return { name: `${method} ${path}`, id, method, template, access: OPERATION_ACCESS[id] }
    }),
  )
}

/** Every operation on links, domains, clicks, usage and events. Those of people and of the instance are in test/people. */
export async function readOperations(
  baseUrl: string,
  page = 'mailto:nowhere@example.com',
): Promise<readonly Operation[]> {
  const { paths } = await readDescription(baseUrl)
  return Object.entries(paths)
    .filter(([path]) => !OF_PEOPLE.has(path.slice(PREFIX.length).split('/')[1] ?? ''))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => {
        const read = operation(method, path, described)
        return read.family === 'previews' ? { ...read, validBody: { url: page } } : read
      }),
    )
}

/** The first segments of paths about people and the instance. */
const OF_PEOPLE: ReadonlySet<string> = new Set([
  'sign-in-options',
  'setup',
  'session',
  'sessions',
  'me',
  'workspaces',
  'members',
  'invitations',
  'tokens',
  'assistants',
  'compat',
  'people',
  'instance',
  'password-resets',
])

/** The resource, from the first segment of the path. */
const FAMILIES: Readonly<Record<string, Operation['family']>> = {
  links: 'links',
  domains: 'domains',
  clicks: 'clicks',
  usage: 'workspace',
  'default-domain': 'default-domain',
  labels: 'labels',
  conversions: 'conversions',
  export: 'workspace',
  events: 'events',
  tags: 'tags',
  'utm-templates': 'utm-templates',
  'rule-sets': 'rule-sets',
  previews: 'previews',
  images: 'images',
  imports: 'imports',
  webhooks: 'webhooks',
}

/** Valid requests of operations that need another one than others of their family. */
const REQUESTS: Readonly<
  Record<
    string,
    {
      query?: string
      body?: Record<string, unknown> | readonly unknown[]
      otherBody?: Record<string, unknown> | readonly unknown[]
      bodyBytesMax?: number
    }
  >
> = {
  'links.bulk': {
    body: { action: 'delete', ids: [UNKNOWN_ID] },
    otherBody: { action: 'delete', ids: ['another'] },
    bodyBytesMax: 2 * 1024 * 1024,
  },
  'links.setOptions': { body: { notes: 'one' }, otherBody: { notes: 'other' } },
  'links.setRules': {
    body: { rules: [{ then: { url: 'https://example.com/' } }] },
    otherBody: { rules: [] },
  },
  'ruleSets.update': { body: { name: 'Valid', rules: [] } },
  'links.setExamples': {
    body: { examples: [{ name: 'All' }] },
    otherBody: { examples: [{ name: 'Each' }] },
  },
  'links.revert': { body: { sequence: 1 }, otherBody: { to: 1 } },
  'links.explain': { body: { country: 'DE' }, otherBody: { country: 'AT' } },
  'domains.updateSettings': { body: { robots: 'index' }, bodyBytesMax: 512 * 1024 },
  'domains.patchSettings': { body: { robots: 'index' }, bodyBytesMax: 512 * 1024 },
  'conversions.record': {
    // Each report has a result of its own.
    body: [{ token: 'none', event: 'order' }],
    otherBody: [{ token: 'none', event: 'sign-up' }],
    bodyBytesMax: 1024 * 1024,
  },
  'conversions.updateSettings': {
    body: { track_conversions: true },
    otherBody: { track_conversions: false },
  },
  'labels.update': { body: { parameter: 'via' }, otherBody: { parameter: null } },
  'domains.updateDefault': { body: { domain: null } },
  'tags.rename': { body: { tags: ['a'], name: 'b' } },
  'tags.delete': { body: { tags: ['a'] } },
  'webhooks.create': {
    body: { url: 'https://hooks.example.com/', events: ['link.created'] },
    otherBody: { url: 'https://hooks.example.com/', events: ['link.deleted'] },
  },
  'webhooks.patch': { body: { ordered: true }, otherBody: { ordered: false } },
  'webhooks.rotateSecret': { body: {} },
  'webhooks.replay': { body: { from: '2026-01-01T00:00:00Z' } },
  'clicks.getSparklines': { query: `link=${UNKNOWN_ID}` },
  'images.create': { bodyBytesMax: 1024 * 1024 },
  'imports.create': { body: { source: 'csv' }, otherBody: { source: 'sink' } },
  'imports.revive': { body: {}, otherBody: { dry_run: true } },
  'imports.start': { body: {}, otherBody: { dry_run: true } },
  'imports.uploadFile': { query: 'offset=0', bodyBytesMax: 8 * 1024 * 1024 },
  'links.checkKey': { query: 'domain=localhost&key=free' },
}

function operation(method: string, path: string, described: DescribedOperation): Operation {
  if (!path.startsWith(`${PREFIX}/`)) throw new Error(`${path} is not under ${PREFIX}`)
  const template = path.slice(PREFIX.length)
  const family = FAMILIES[template.split('/')[1] ?? '']
  if (family === undefined) {
    throw new Error(`${path} belongs to a family that the tests do not know yet`)
  }
  const request = REQUESTS[described.operationId ?? '']
  const validBody =
    described.requestBody?.content['application/json'] === undefined
      ? undefined
      : (request?.body ?? validBodyOf(family, template))
  const query = request?.query === undefined ? '' : `?${request.query}`
  return {
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    template,
    family,
    takesId: template.includes('{id}'),
    validBody,
    otherBody: request?.otherBody ?? (validBody && otherBodyOf(family, validBody)),
    bodyBytesMax: request?.bodyBytesMax ?? 64 * 1024,
    success: Number(Object.keys(described.responses).find((status) => status.startsWith('2'))),
    responses: described.responses,
    pathFor: (id) => template.replace('{id}', id) + query,
  }
}

function otherBodyOf(family: Operation['family'], body: object) {
  return {
    ...body,
    ...(family === 'utm-templates' || family === 'rule-sets'
      ? { name: 'Other' }
      : { domain: 'other.acme.test' }),
  }
}

function validBodyOf(family: Operation['family'], template: string): Record<string, unknown> {
  if (template.endsWith('/qr-code')) return { color: '#003366' }
  if (template.endsWith('/https')) return { hsts_max_age: 300 }
  if (family === 'utm-templates') return { name: 'Valid', utm_source: 'mail' }
  if (family === 'rule-sets') return { name: 'Valid' }
  return family === 'links'
    ? { domain: 'localhost', url: 'https://example.com/valid' }
    : { domain: 'valid.acme.test' }
}

const PICTURE = PNG.sync.write(new PNG({ width: 8, height: 8, fill: true }))

/** The options of `fetch` for the upload of an image. */
export function pictureRequest(bytes: Uint8Array<ArrayBufferLike>): RequestInit {
  return { body: new Uint8Array(bytes), headers: { 'content-type': 'image/png' } }
}

/** The options of `fetch` for an operation's valid request. */
export function validRequest(operation: Operation): RequestInit {
  if (operation.family === 'images') return pictureRequest(PICTURE)
  return operation.validBody === undefined ? {} : jsonRequest(JSON.stringify(operation.validBody))
}

export function jsonRequest(body: string, headers: Readonly<Record<string, string>> = {}) {
  return { headers: { 'content-type': 'application/json', ...headers }, body }
}
