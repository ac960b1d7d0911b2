import { type AnswerSchemas, withExamples } from './answer-examples.ts'
import { type DescribedOperation, describeHeaders, HEADER_COMPONENTS } from './described-headers.ts'

type Schema = { readonly $ref?: string; readonly type?: string; readonly anyOf?: readonly Schema[] }
type Media = Readonly<Record<string, { readonly schema: Schema }>>
type Operation = {
  readonly operationId: string
  readonly responses: Readonly<Record<string, object>>
  readonly requestBody?: { readonly content: Media }
  readonly parameters?: readonly { readonly name?: string }[]
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
}

/**
 * Adds to an OpenAPI document what the schemas of routes cannot express: headers, optional bodies, examples of answers,
 * and answers that may have more fields in a later version. Removes the body fields that the API accepts and ignores.
 */
export function completeDescription<D extends object>(document: D): D {
  const { components, paths = {} } = document as Document
  const schemas = components?.schemas ?? {}
  return {
    ...document,
    components: {
      ...components,
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [
          name,
          OF_REQUESTS.test(name)
            ? withoutIgnoredFields(schema)
            : open(withGrowingEnum(name, withoutIgnoredFields(schema))),
        ]),
      ),
      headers: HEADER_COMPONENTS,
    },
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
  const { operationId, responses, requestBody } = operation
  const shown = withExamples(mapValues(responses, open), { operationId, path, schemas })
  return {
    ...operation,
    responses: describeHeaders(shown, on),
    ...(requestBody && { requestBody: describeBody(requestBody) }),
  }
}

function isIdempotencyKey({ name }: { readonly name?: string }): boolean {
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
