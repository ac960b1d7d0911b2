import type { ErrorDetails, Fault } from '@terse/contract/faults'
import type { FolderFault } from './disk/folder.ts'

/** The faults of an input by field. */
export type FieldFaults = Readonly<Record<string, readonly Fault[]>>

export type FailureCode =
  | 'unauthorized'
  | 'missing_scope'
  | 'missing_role'
  | 'authentication_required'
  | 'second_factor_required'
  | 'cross_origin'
  | 'not_found'
  | 'idempotency_conflict'
  | 'in_use'
  | 'examples_changed'
  | 'precondition_failed'
  | 'validation_failed'
  | 'rate_limited'
  | 'too_many_attempts'
  | 'unavailable'

/** What is unavailable; docs/operating/monitoring.md says what to do about each. */
export type UnavailableKind =
  /** The database cannot be reached, or takes no writes. */
  | 'database'
  /** It did not end a query, or the API an answer, in time. */
  | 'database_slow'
  /** Another program or other writers have kept it for too long. */
  | 'database_busy'
  /** The disk of its server is full. */
  | 'database_full'
  | 'database_damaged'
  /** The database of clicks, where it is a server of its own, cannot be reached, or takes no writes. */
  | 'clicks'
  /** It did not end a query in time. */
  | 'clicks_slow'
  | 'clicks_full'
  | `data_folder_${FolderFault}`
  /** The disk has no room for an uploaded file. */
  | 'upload_room'
  | 'single_sign_on'
  /** A thread or process of this node has ended, or took too long. */
  | 'worker'
  | 'stopping'

/** An expected failure; `failureText` words it for the caller. Independent of HTTP. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly fields: FieldFaults | undefined
  /** A closer reason than the code. */
  readonly details: ErrorDetails | undefined
  /** What is unavailable, for operators; set for the code `unavailable` only. */
  readonly unavailable: UnavailableKind | undefined
  /** For `rate_limited` and `too_many_attempts`, when it is known how long to wait before the same request. */
  retryAfterSeconds: number | undefined

  private constructor(
    code: FailureCode,
    message: string,
    {
      fields,
      details,
      cause,
      unavailable,
    }: {
      fields?: FieldFaults
      details?: ErrorDetails
      cause?: unknown
      unavailable?: UnavailableKind
    } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.fields = fields
    this.details = details
    this.unavailable = unavailable
  }

  static unauthorized(details: ErrorDetails): Failure {
    return new Failure('unauthorized', details.code, { details })
  }

  static missingScope(scope: string): Failure {
    return new Failure('missing_scope', `This token lacks the scope ${scope}.`)
  }

  /** @param details which role or whom it needs */
  static missingRole(details: ErrorDetails): Failure {
    return new Failure('missing_role', details.code, { details })
  }

  /** The person must prove again who they are. */
  static authenticationRequired(): Failure {
    return new Failure(
      'authentication_required',
      'Confirm that it is you: send your password or a passkey to /api/v1/session/authenticate, then send this request again.',
    )
  }

  /** @param fields those that may hold the second factor */
  static secondFactorRequired(message: string, fields: FieldFaults): Failure {
    return new Failure('second_factor_required', message, { fields })
  }

  static crossOrigin(details: ErrorDetails): Failure {
    return new Failure('cross_origin', details.code, { details })
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

  /** @param details what uses the thing that was to be deleted */
  static inUse(details: ErrorDetails): Failure {
    return new Failure('in_use', details.code, { details })
  }

  /** @param examples those whose result a change would change, with their names and results */
  static examplesChanged(examples: readonly { readonly name: string }[]): Failure {
    const names = examples.map(({ name }) => name)
    const details = { code: 'examples_changed', names, examples } as const
    return new Failure('examples_changed', details.code, { details })
  }

  static preconditionFailed(): Failure {
    return new Failure(
      'precondition_failed',
      'This was changed since the version that If-Match names. Read it again, then send the change.',
    )
  }

  static invalid(fields: FieldFaults): Failure {
    const [field, faults] = Object.entries(fields)[0] ?? ['', []]
    return new Failure('validation_failed', `${field}: ${faults[0]?.code}`, { fields })
  }

  /** Something at the command line that no field of the API has. */
  static invalidCommand(message: string): Failure {
    return new Failure('validation_failed', message)
  }

  /** The caller sends too much at once; the same request may succeed later. */
  static tooMany(message: string, retryAfterSeconds?: number): Failure {
    const failure = new Failure('rate_limited', message)
    failure.retryAfterSeconds = retryAfterSeconds
    return failure
  }

  /** Too many wrong passwords or codes; the right ones are not looked at either until then. */
  static tooManyAttempts(message: string, retryAfterSeconds: number): Failure {
    const failure = new Failure('too_many_attempts', message)
    failure.retryAfterSeconds = retryAfterSeconds
    return failure
  }

  /**
   * Something that the request needs is unavailable; the same request may succeed later.
   *
   * @param options.kind `database` when left out
   * @param options.message for the caller, when there is a more specific one
   */
  static unavailable(
    cause: unknown,
    {
      kind = 'database',
      message = 'The database is not available at the moment.',
    }: { readonly kind?: UnavailableKind; readonly message?: string | undefined } = {},
  ): Failure {
    return new Failure('unavailable', message, { cause, unavailable: kind })
  }
}

/** Collects the faults of several fields, so that they are reported together. */
export class FaultList {
  readonly #fields: Record<string, Fault[]> = {}

  add(field: string, fault: Fault): void {
    const faults = this.#fields[field]
    if (faults === undefined) this.#fields[field] = [fault]
    else faults.push(fault)
  }

  /** Returns the parsed value, or records its fault and returns undefined. */
  take<T>(field: string, parsed: Parsed<T>): T | undefined {
    if ('value' in parsed) return parsed.value
    this.add(field, parsed.fault)
    return undefined
  }

  throwIfAny(): void {
    if (Object.keys(this.#fields).length > 0) throw Failure.invalid(this.#fields)
  }
}

/** Returns the faults with which `parse` refuses its input; empty when it accepts it. */
export function faultsFoundBy(parse: () => unknown): FieldFaults {
  try {
    parse()
    return {}
  } catch (error) {
    if (error instanceof Failure && error.fields !== undefined) return error.fields
    throw error
  }
}

/** The result of a `parse*` function: the value in its canonical form, or its fault. */
export type Parsed<T> = { readonly value: T } | { readonly fault: Fault }

/** Whether the error says that the database is unavailable. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.code === 'unavailable'
}
