/** The faults of an input, a list of sentences for each field. */
export type FieldFaults = Readonly<Record<string, readonly string[]>>

export type FailureCode =
  | 'unauthorized'
  | 'missing_scope'
  | 'not_found'
  | 'idempotency_conflict'
  | 'precondition_failed'
  | 'validation_failed'
  | 'rate_limited'
  | 'unavailable'

/** A failure that is expected of a working program, told to whoever asked. Knows nothing of HTTP. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly fields: FieldFaults | undefined
  /** For `rate_limited`, where it is known when the same request may be made again. */
  retryAfterSeconds: number | undefined

  private constructor(code: FailureCode, message: string, fields?: FieldFaults, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.fields = fields
  }

  static unauthorized(message: string): Failure {
    return new Failure('unauthorized', message)
  }

  static missingScope(scope: string): Failure {
    return new Failure('missing_scope', `This token lacks the scope ${scope}.`)
  }

  static notFound(what: string): Failure {
    return new Failure('not_found', `${what} not found.`)
  }

  static idempotencyConflict(): Failure {
    return new Failure(
      'idempotency_conflict',
      'This Idempotency-Key was used for a different request. Use a new key for each new request.',
    )
  }

  static preconditionFailed(): Failure {
    return new Failure(
      'precondition_failed',
      'This was changed since the version that If-Match names. Read it again, then send the change.',
    )
  }

  static invalid(fields: FieldFaults): Failure {
    const [field, texts] = Object.entries(fields)[0] ?? ['', []]
    return new Failure('validation_failed', `${field} ${texts[0] ?? 'is invalid'}`, fields)
  }

  /** The caller asks for too much at once; the same request may be made a little later. */
  static tooMany(message: string, retryAfterSeconds?: number): Failure {
    const failure = new Failure('rate_limited', message)
    failure.retryAfterSeconds = retryAfterSeconds
    return failure
  }

  /**
   * The store cannot be reached, or cannot write; the same request may work a little later.
   *
   * @param message for the caller, where more is known than that
   */
  static unavailable(
    cause: unknown,
    message = 'The database is not available at the moment.',
  ): Failure {
    return new Failure('unavailable', message, undefined, cause)
  }
}

/** Gathers the faults of several fields, so that all are told at once. */
export class FaultList {
  readonly #fields: Record<string, string[]> = {}

  add(field: string, text: string): void {
    const texts = this.#fields[field]
    if (texts === undefined) this.#fields[field] = [text]
    else texts.push(text)
  }

  /** Passes a parsed value on, or notes why there is none. */
  take<T>(field: string, parsed: Parsed<T>): T | undefined {
    if ('value' in parsed) return parsed.value
    this.add(field, parsed.fault)
    return undefined
  }

  throwIfAny(): void {
    if (Object.keys(this.#fields).length > 0) throw Failure.invalid(this.#fields)
  }
}

/** What `parse` finds wrong with its input; nothing when it accepts it. */
export function faultsFoundBy(parse: () => unknown): FieldFaults {
  try {
    parse()
    return {}
  } catch (error) {
    if (error instanceof Failure && error.fields !== undefined) return error.fields
    throw error
  }
}

/** What a `parse*` function gives: the value in its canonical form, or what is wrong with it. */
export type Parsed<T> = { readonly value: T } | { readonly fault: string }

/** Whether the store, or the way to it, is away at the moment. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.code === 'unavailable'
}
