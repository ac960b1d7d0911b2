/** The parts of a JSON schema that the reference shows. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly deprecated?: boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  /** Lists have `meta`. */
  readonly properties?: Readonly<Record<string, Schema>> & { readonly meta?: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
}

type Media = { readonly schema: Schema; readonly example?: unknown }

export type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
  readonly example?: unknown
}

export type Answer = {
  readonly description: string
  readonly content?: Readonly<Record<string, Media>>
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>
}

type DescribedOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, Media>>
  }
  readonly responses: Readonly<Record<string, Answer>>
}

/** The OpenAPI document of the service, as the reference reads it. */
export type ApiDescription = {
  readonly info: { readonly title: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: DescribedOperation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly headers: Readonly<Record<string, { readonly description?: string }>>
  }
}

export type Operation = DescribedOperation & {
  /** In capitals. */
  readonly method: string
  readonly path: string
}

/** Returns the operations in the order of the document. */
export function operationsOf({ paths }: ApiDescription): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
}

/** Returns the name of the component that a schema refers to. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

/** Returns a schema with its reference, if it is one, resolved. */
export function resolved(schema: Schema, { components }: ApiDescription): Schema {
  const name = nameOf(schema)
  return name === undefined ? schema : (components.schemas[name] ?? schema)
}
