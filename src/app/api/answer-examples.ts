import { OPERATION_EXAMPLES, SCHEMA_EXAMPLES } from './example-values.ts'

/** The parts of a schema from which an example is composed. */
type AnswerSchema = {
  readonly $ref?: string
  readonly const?: unknown
  readonly anyOf?: readonly AnswerSchema[]
  readonly items?: AnswerSchema
  readonly properties?: Readonly<Record<string, AnswerSchema>> & { readonly data?: AnswerSchema }
}

/** The schemas of a description by their names. */
export type AnswerSchemas = Readonly<Record<string, AnswerSchema>>

type Media = Readonly<Record<string, { readonly schema: AnswerSchema }>>

const REFERENCE = /^#\/components\/schemas\/(.+)$/
const SUCCESS = /^2/
const ORIGIN = 'https://go.example.com'
/** Lists that have a cursor only in a walk that began with one. */
const WITHOUT_CURSOR: ReadonlySet<string> = new Set([
  'LinkPage',
  'DomainPage',
  'TagPage',
  'UtmTemplatePage',
])

/** Adds examples to the answers of an operation that succeed. Answers in bytes, such as pictures, get none. */
export function withExamples(
  responses: Readonly<Record<string, object>>,
  on: { readonly operationId: string; readonly path: string; readonly schemas: AnswerSchemas },
): Readonly<Record<string, object>> {
  const { operationId, path, schemas } = on
  const exampleFor = (type: string, schema: AnswerSchema) =>
    OPERATION_EXAMPLES[operationId]?.[type] ?? exampleOf(schema, { path, schemas })
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      if (!SUCCESS.test(status) || !('content' in response)) return [status, response]
      const content = Object.entries(response.content as Media).map(([type, media]) => {
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
  const isCounted = name !== 'EventPage'
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
