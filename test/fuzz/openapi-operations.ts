import { z } from 'zod'

/** The part of JSON Schema that the OpenAPI document uses. */
export type JsonSchema = {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly $ref?: string
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

type Parameter = { readonly name: string; readonly in: string; readonly schema: JsonSchema }

export type ApiDocument = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly parameters?: readonly Parameter[]
            readonly requestBody?: { readonly content: Content }
            readonly responses: Readonly<Record<string, { readonly content?: Content }>>
          }
        >
      >
    >
  >
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/**
 * What the OpenAPI document describes for one status, by media type: a function that returns the fault
 * of a body, or undefined when it has the described shape.
 */
type DescribedAnswer = ReadonlyMap<string, (body: unknown) => string | undefined>

export type Operation = {
  /** In upper case. */
  readonly method: string
  /** Contains `{id}` if the operation takes one. */
  readonly path: string
  readonly query: readonly Parameter[]
  readonly takesIdempotencyKey: boolean
  readonly body: JsonSchema | undefined
  readonly answers: ReadonlyMap<number, DescribedAnswer>
}

/** Operations whose answers do not end by themselves; they have tests of their own. */
const ENDLESS: ReadonlySet<string> = new Set(['/api/v1/clicks/live'])

/** Every operation of the OpenAPI document whose answer ends, with references resolved. */
export function readOperations(document: ApiDocument): Operation[] {
  const { schemas } = document.components
  const definitions = JSON.parse(
    JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/'),
  )

  /** @param content undefined for an answer without a body */
  function describedAnswer(content: Content | undefined): DescribedAnswer {
    if (content === undefined) return new Map()
    const entries = Object.entries(content)
    if (entries.length === 0) throw new Error('an answer without content')
    return new Map(
      entries.map(([mediaType, media]) => {
        const name = media.schema.$ref?.split('/').at(-1)
        if (name === undefined) return [mediaType, () => undefined]
        const schema = z.fromJSONSchema({ $defs: definitions, $ref: `#/$defs/${name}` })
        const fault = (body: unknown) => {
          const { error } = schema.safeParse(body)
          return error && z.prettifyError(error)
        }
        return [mediaType, fault]
      }),
    )
  }

  const paths = Object.entries(document.paths).filter(([path]) => !ENDLESS.has(path))
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      const parameters = described.parameters ?? []
      const body = described.requestBody?.content['application/json']?.schema
      return {
        method: method.toUpperCase(),
        path,
        query: parameters.filter((parameter) => parameter.in === 'query'),
        takesIdempotencyKey: parameters.some(({ name }) => name === 'idempotency-key'),
        body: body && resolve(body, schemas),
        answers: new Map(
          Object.entries(described.responses).map(
            ([status, { content }]) => [Number(status), describedAnswer(content)] as const,
          ),
        ),
      }
    }),
  )
}

function resolve(schema: JsonSchema, schemas: ApiDocument['components']['schemas']): JsonSchema {
  if (schema.$ref === undefined) return schema
  const resolved = schemas[schema.$ref.split('/').at(-1) ?? '']
  if (resolved === undefined) throw new Error(`${schema.$ref} has no target`)
  return resolve(resolved, schemas)
}
