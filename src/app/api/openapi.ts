import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { isPermission, OPERATION_ACCESS } from '../../identity/permissions.ts'
import { answersOf } from '../../platform/http/api/responses.ts'
import { Asset } from '../../platform/http/assets/asset.ts'
import type { Compressor } from '../../platform/http/compression/compressor.ts'
import { OPERATION_EXAMPLES, parameterExample } from './example-operations.ts'
import { SCHEMA_EXAMPLES } from './example-values.ts'
import type { ApiDescription } from './reference/description.ts'
import { referencePage } from './reference/reference-page.ts'
import { webhookCalls } from './webhook-calls.ts'

const DESCRIPTION = `Short links and the domains they live on.

Programs send \`Authorization: Bearer <token>\` with every request; make a token with
\`npx terse token create --workspace <name>\`. Pages of the service send the cookie of a session and the header
\`Terse-Workspace\` with the identifier of a workspace of the person.
Errors have the form \`{"message", "code", "errors"?, "request_id"}\`; \`code\` is stable. Requests that create
something may carry an \`Idempotency-Key\`: the same request with the same key is done once, and
answered alike for 24 hours.

After 429 and 503, wait for as many seconds as \`Retry-After\` says and send the request again.`

const TAGS = [
  { name: 'Links', description: 'Short links, their QR codes and their clicks.' },
  { name: 'Domains', description: 'The domains of the workspace, their DNS, HTTPS and clicks.' },
  { name: 'Previews', description: 'What messengers and social networks show of a link.' },
  { name: 'Rule sets', description: 'Rules that several links share.' },
  { name: 'Tags', description: 'Tags of all links of the workspace.' },
  { name: 'Labels', description: 'Labels that tell visits of one link apart.' },
  { name: 'UTM templates', description: 'UTM values to choose from.' },
  { name: 'Imports', description: 'Links and clicks that are moved in from other services.' },
  { name: 'Clicks', description: 'Clicks on all links of the workspace.' },
  { name: 'Conversions', description: 'What visitors did at their destination.' },
  { name: 'Webhooks', description: 'Where events are sent, and what became of them.' },
  { name: 'Workspace', description: 'What the workspace uses, its quotas and its events.' },
  { name: 'People', description: 'Members of the workspace, and invitations.' },
  { name: 'Tokens', description: 'Tokens of the workspace, with which programs call the API.' },
  { name: 'Assistants', description: 'Assistants that people have let work in the workspace.' },
  { name: 'Other services', description: 'APIs of other services that the workspace answers.' },
  { name: 'Sign-in', description: 'Set-up, sign-in and the sessions of people.' },
  { name: 'Me', description: 'The account of the person who is signed in.' },
  {
    name: 'Instance',
    description: 'For operators: everyone’s accounts, and the state of the service.',
  },
]

/** Adds the failures of a route to what its module says of it. */
const describeRoute: typeof jsonSchemaTransform = (given) => {
  const { schema, route } = given
  const operation = route.config?.operation
  if (operation === undefined) return jsonSchemaTransform(given)
  const access = OPERATION_ACCESS[operation]
  const ofPeople = access === 'open' ? 'nothing' : 'session'
  const needs = isPermission(access) ? 'workspace' : ofPeople
  const response = answersOf(schema, { method: String(route.method), needs })
  return jsonSchemaTransform({ ...given, schema: { ...schema, response } })
}

/** Collects the routes that are registered after it, for the OpenAPI document and the reference page. */
export async function describeApi(app: FastifyInstance, compressor: Compressor): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Terse API',
        version: '1',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' } as { name: string },
      },
      tags: TAGS,
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'A token of the workspace.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-terse_session',
            description:
              'The session of a person; `terse_session` where the service is reached over plain HTTP. Operations in a workspace also need the header `Terse-Workspace: <id>`, and changes must come from pages of the service.',
          },
        },
      },
    },
    transform: describeRoute,
    transformObject: (document) =>
      completeDescription(withoutUnusedSchemas(jsonSchemaTransformObject(document))),
  })
  const describe = () => app.swagger() as unknown as ApiDescription
  await app.register(referencePage, { compressor, describe })

  let description: Asset | undefined
  // Generated once, synchronously: when the time limit could apply, the document is already complete.
  const options = { schema: { hide: true }, config: { mayTakeLong: true } } as const
  app.get('/api/v1/openapi.json', options, async (request, reply) => {
    description ??= new Asset(compressor, {
      body: Buffer.from(JSON.stringify(describe())),
      contentType: 'application/json; charset=utf-8',
      isImmutable: false,
    })
    return description.send(request, reply)
  })
}

type Schema = { readonly $ref?: string; readonly type?: string; readonly anyOf?: readonly Schema[] }
type Media = Readonly<Record<string, { readonly schema: Schema }>>
type Operation = {
  readonly operationId: string
  readonly responses: Readonly<Record<string, object>>
  readonly requestBody?: { readonly content: Media }
  readonly parameters?: readonly { readonly name: string }[]
}
type Property = { readonly readOnly?: boolean; readonly description?: string | undefined }
type Described = { readonly properties?: Readonly<Record<string, Property>> }
type Document = {
  readonly components?: { readonly schemas?: Readonly<Record<string, Described>> }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Schemas of requests, which refuse unknown fields, end so. */
const OF_REQUESTS = /Input$/
/** Fields of answers whose values may grow within v1, by their schemas. */
const GROWING_ENUMS: Readonly<Record<string, string>> = {
  Problem: 'code',
  Fault: 'code',
  Event: 'type',
  WebhookAttempt: 'event',
}

/**
 * Adds to an OpenAPI document what the schemas of routes cannot express: headers, optional bodies, examples of answers,
 * and answers that may have more fields in a later version. Removes the body fields that the API accepts and ignores.
 */
function completeDescription<D extends object>(document: D): D {
  const { components, paths = {} } = document as Document
  const schemas = components?.schemas ?? {}
  const calls = webhookCalls()
  return {
    ...document,
    components: {
      ...components,
      schemas: Object.fromEntries(
        Object.entries({ ...schemas, ...calls.schemas }).map(([name, schema]) => [
          name,
          OF_REQUESTS.test(name)
            ? withoutIgnoredFields(schema)
            : open(withGrowingEnum(name, withoutIgnoredFields(schema))),
        ]),
      ),
      headers: HEADER_COMPONENTS,
    },
    webhooks: calls.webhooks,
    paths: mapEntries(paths, (path, methods) =>
      mapEntries(methods, (method, operation) =>
        completeOperation(operation, {
          path,
          schemas: schemas as AnswerSchemas,
          isRepeatable: operation.parameters?.some(isIdempotencyKey) === true,
          isLocated: method === 'post' && 'get' in (paths[`${path}/{id}`] ?? {}),
        }),
      ),
    ),
  }
}

function completeOperation(
  operation: Operation,
  { path, schemas, ...on }: DescribedOperation & { path: string; schemas: AnswerSchemas },
): object {
  const { operationId, responses, requestBody, parameters } = operation
  const shown = withExamples(mapValues(responses, open), { operationId, path, schemas })
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((given) => {
        const example = parameterExample(given.name, { operationId, path })
        return example === undefined ? given : { ...given, example }
      }),
    }),
    responses: describeHeaders(shown, on),
    ...(requestBody && { requestBody: describeBody(requestBody) }),
  }
}

function isIdempotencyKey({ name }: { readonly name: string }): boolean {
  return name === 'idempotency-key'
}

/** Generated clients would otherwise offer fields that do nothing. */
function withoutIgnoredFields(schema: Described): Described {
  if (schema.properties === undefined) return schema
  const kept = Object.entries(schema.properties).filter(([, { readOnly }]) => readOnly !== true)
  return { ...schema, properties: Object.fromEntries(kept) }
}

/** Strict clients would otherwise refuse answers that get a field in a later version. */
function open<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(open) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).filter(
    ([name, value]) => !(name === 'additionalProperties' && value === false),
  )
  return Object.fromEntries(entries.map(([name, value]) => [name, open(value)])) as T
}

function withGrowingEnum(name: string, schema: Described): Described {
  const field = GROWING_ENUMS[name]
  const values = field === undefined ? undefined : schema.properties?.[field]
  if (field === undefined || values === undefined) return schema
  const { description, ...known } = values
  const grown = { description, anyOf: [known, { type: 'string' }] }
  return { ...schema, properties: { ...schema.properties, [field]: grown } }
}

/** A body that may be null may also be absent, which is how most clients send it. */
function describeBody(body: { readonly content: Media }): object {
  const isOptional = Object.values(body.content).some(({ schema }) => acceptsNull(schema))
  if (!isOptional) return body
  const content = mapValues(body.content, ({ schema, ...rest }) => ({
    ...rest,
    schema: withoutNull(schema),
  }))
  return { ...body, content, required: false }
}

function acceptsNull({ anyOf = [] }: Schema): boolean {
  return anyOf.some(({ type }) => type === 'null')
}

function withoutNull(schema: Schema): Schema {
  const { anyOf = [], ...rest } = schema
  const others = anyOf.filter(({ type }) => type !== 'null')
  return others.length === 1 ? { ...rest, ...others[0] } : { ...rest, anyOf: others }
}

function mapEntries<T, R>(record: Readonly<Record<string, T>>, map: (name: string, value: T) => R) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(name, value)]))
}

function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R) {
  return mapEntries(record, (_, value) => map(value))
}

const HEADERS = {
  Allow: 'The methods that the path has.',
  ETag: 'Names this version. Send it in `If-None-Match` to get 304 for as long as nothing changes.',
  'Idempotent-Replayed':
    '`true` when an earlier request with this `Idempotency-Key` has done the work; absent otherwise.',
  Location: 'The path of what was created.',
  'RateLimit-Limit': 'Requests that the token may make in a minute.',
  'RateLimit-Remaining': 'How many of them are left.',
  'RateLimit-Reset': 'Seconds until the next minute begins.',
  'Retry-After': 'Seconds to wait before the request is sent again.',
  Upgrade: '`TLS/1.2, HTTP/1.1`: send the request to the `https://` address.',
  'WWW-Authenticate':
    'The scheme `Bearer`, and why the token was refused if one was sent (RFC 6750).',
  'X-Request-Id': 'The id of the request, which the log of the service has too.',
} as const

type HeaderName = keyof typeof HEADERS

const INTEGERS: ReadonlySet<string> = new Set([
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
])

const RATE_LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const

const OF_STATUS: Readonly<Record<string, readonly HeaderName[]>> = {
  200: RATE_LIMIT,
  201: RATE_LIMIT,
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  426: ['Upgrade'],
  429: ['Retry-After', ...RATE_LIMIT],
  500: ['X-Request-Id'],
  503: ['Retry-After'],
}

type DescribedOperation = { readonly isLocated: boolean; readonly isRepeatable: boolean }

/**
 * Describes the headers of every response, by its status.
 *
 * @param on.isLocated whether a `GET` shows what the operation creates
 * @param on.isRepeatable whether it honours `Idempotency-Key`
 */
function describeHeaders(
  responses: Readonly<Record<string, object>>,
  { isLocated, isRepeatable }: DescribedOperation,
): object {
  const isConditional = '304' in responses
  const described = Object.entries(responses).map(([status, response]) => {
    const names: HeaderName[] = [...(OF_STATUS[status] ?? [])]
    if (isConditional && (status === '200' || status === '304')) names.push('ETag')
    if (isLocated && status === '201') names.push('Location')
    if (isRepeatable && (status === '200' || status === '201')) names.push('Idempotent-Replayed')
    const headers = Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    )
    return [status, names.length === 0 ? response : { ...response, headers }]
  })
  return Object.fromEntries(described)
}

/** The header components to which `describeHeaders` refers. */
const HEADER_COMPONENTS = Object.fromEntries(
  Object.entries(HEADERS).map(([name, description]) => [
    name,
    { description, schema: INTEGERS.has(name) ? { type: 'integer' } : { type: 'string' } },
  ]),
)

/** The parts of a schema from which an example is composed. */
type AnswerSchema = {
  readonly $ref?: string
  readonly const?: unknown
  readonly anyOf?: readonly AnswerSchema[]
  readonly items?: AnswerSchema
  readonly properties?: Readonly<Record<string, AnswerSchema>> & { readonly data?: AnswerSchema }
}

/** The schemas of a description by their names. */
type AnswerSchemas = Readonly<Record<string, AnswerSchema>>

type AnswerContent = Readonly<Record<string, { readonly schema: AnswerSchema }>>

const REFERENCE = /^#\/components\/schemas\/(.+)$/
const SUCCESS = /^2/
const ORIGIN = 'https://go.example.com'
/** Lists that have a cursor only in a walk that began with one. */
const WITHOUT_CURSOR: ReadonlySet<string> = new Set([
  'LinkPage',
  'DomainPage',
  'TagPage',
  'UtmTemplatePage',
  'RuleSetPage',
  'WebhookPage',
])
/** Lists that have no total. */
const UNCOUNTED: ReadonlySet<string> = new Set([
  'ConversionPage',
  'EventPage',
  'LinkHistoryPage',
  'WebhookAttemptPage',
])

/** Adds examples to the answers of an operation that succeed. Answers in bytes, such as pictures, get none. */
function withExamples(
  responses: Readonly<Record<string, object>>,
  on: { readonly operationId: string; readonly path: string; readonly schemas: AnswerSchemas },
): Readonly<Record<string, object>> {
  const { operationId, path, schemas } = on
  const exampleFor = (type: string, schema: AnswerSchema) =>
    OPERATION_EXAMPLES[operationId]?.[type] ?? exampleOf(schema, { path, schemas })
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      if (!SUCCESS.test(status) || !('content' in response)) return [status, response]
      const content = Object.entries(response.content as AnswerContent).map(([type, media]) => {
        const example = exampleFor(type, media.schema)
        return [type, example === undefined ? media : { ...media, example }]
      })
      return [status, { ...response, content: Object.fromEntries(content) }]
    }),
  )
}

/** Returns undefined for a schema of which nothing is an example. */
function exampleOf(
  schema: AnswerSchema,
  on: { readonly path: string; readonly schemas: AnswerSchemas },
): unknown {
  const [, name = ''] = REFERENCE.exec(schema.$ref ?? '') ?? []
  const { anyOf: [first] = [], properties } = { ...schema, ...on.schemas[name] }
  if (name in SCHEMA_EXAMPLES) return SCHEMA_EXAMPLES[name]
  if (first !== undefined) return exampleOf(first, on)
  if (properties === undefined) return undefined
  if ('meta' in properties) {
    const item = exampleOf(properties.data?.items ?? {}, on)
    return item === undefined ? undefined : pageOf(item, name, ORIGIN + on.path)
  }
  // A message, as deletions have.
  const fixed = Object.entries(properties).map(([field, { const: value }]) => [field, value])
  return fixed.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(fixed)
}

/** A list of one item. */
function pageOf(item: unknown, name: string, path: string): object {
  const isCounted = !UNCOUNTED.has(name)
  const first = isCounted ? `${path}?page=1` : `${path}?cursor=`
  const none = { url: null, active: false }
  return {
    data: [item],
    links: { first, last: isCounted ? first : null, prev: null, next: null },
    meta: {
      current_page: 1,
      from: 1,
      to: 1,
      last_page: isCounted ? 1 : null,
      per_page: 25,
      total: isCounted ? 1 : null,
      path,
      links: [
        { ...none, label: 'Previous' },
        { url: first, label: '1', active: true },
        { ...none, label: 'Next' },
      ],
      ...(!WITHOUT_CURSOR.has(name) && { next_cursor: null }),
    },
  }
}

type WithSchemas = { components?: { schemas?: Record<string, unknown> } }

/**
 * Returns the description without the schemas that nothing in it points to: each schema of the contract
 * is rendered both as input and as output, and most are used in one way only. Schemas are sorted by name;
 * otherwise their order would follow that in which files are imported.
 */
export function withoutUnusedSchemas<D extends object>(document: D): D {
  const { components } = document as WithSchemas
  const schemas = components?.schemas ?? {}
  const used = new Set<string>()
  const follow = (value: unknown) => {
    for (const name of referencesIn(value)) {
      if (used.has(name)) continue
      used.add(name)
      follow(schemas[name])
    }
  }
  follow({ ...document, components: undefined })
  const kept = Object.entries(schemas)
    .filter(([name]) => used.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))

  return { ...document, components: { ...components, schemas: Object.fromEntries(kept) } }
}

function referencesIn(value: unknown): string[] {
  const text = JSON.stringify(value) ?? ''
  return [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? '')
}
