import { describeHeaders, HEADER_COMPONENTS } from './described-headers.ts'

type Schema = { readonly $ref?: string; readonly type?: string; readonly anyOf?: readonly Schema[] }
type Media = Readonly<Record<string, { readonly schema: Schema }>>
type Operation = {
  readonly responses: Readonly<Record<string, object>>
  readonly requestBody?: { readonly content: Media }
}
type Described = { readonly properties?: Readonly<Record<string, { readonly readOnly?: boolean }>> }
type Document = {
  readonly components?: { readonly schemas?: Readonly<Record<string, Described>> }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/**
 * Adds to an OpenAPI document what the schemas of routes cannot express: headers and optional bodies.
 * Removes the body fields that the API accepts and ignores.
 */
export function completeDescription<D extends object>(document: D): D {
  const { components, paths = {} } = document as Document
  return {
    ...document,
    components: {
      ...components,
      schemas: mapValues(components?.schemas ?? {}, withoutIgnoredFields),
      headers: HEADER_COMPONENTS,
    },
    paths: mapValues(paths, (methods) => mapValues(methods, completeOperation)),
  }
}

function completeOperation(operation: Operation): object {
  const { responses, requestBody } = operation
  return {
    ...operation,
    responses: describeHeaders(responses),
    ...(requestBody && { requestBody: describeBody(requestBody) }),
  }
}

/** Generated clients would otherwise offer fields that do nothing. */
function withoutIgnoredFields(schema: Described): Described {
  if (schema.properties === undefined) return schema
  const kept = Object.entries(schema.properties).filter(([, { readOnly }]) => readOnly !== true)
  return { ...schema, properties: Object.fromEntries(kept) }
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

function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
