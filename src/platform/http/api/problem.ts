import type { ErrorCode, FaultResource, Problem } from '@terse/contract/errors'
import { type Fault, faultText } from '@terse/contract/faults'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Failure, type FieldFaults } from '../../failure.ts'
import { failureText } from '../../failure-text.ts'
import type { StateLog } from '../../log/state-log.ts'
import { QueueRefusal } from '../../work/fair-queue.ts'
import { TaskThreadEnded } from '../../work/task-thread.ts'
import { bodyTooLarge } from './validation.ts'

/**
 * The body of an error that no `Failure` describes. It loads no texts, for what answers before the API is loaded.
 *
 * @param requestId left out for one item of a request
 */
export function problem(code: ErrorCode, message: string, requestId?: string): Problem {
  return { message, code, ...(requestId !== undefined && { request_id: requestId }) }
}

/** The status of every code of the contract; the compiler checks that none is missing. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  bad_request: 400,
  malformed_json: 400,
  unauthorized: 401,
  second_factor_required: 401,
  missing_scope: 403,
  missing_role: 403,
  authentication_required: 403,
  cross_origin: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  in_use: 409,
  examples_changed: 409,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  https_required: 426,
  rate_limited: 429,
  too_many_attempts: 429,
  queue_full: 429,
  internal: 500,
  unavailable: 503,
  overloaded: 503,
}

const UNAVAILABLE_RETRY_SECONDS = 2
const BUSY_RETRY_SECONDS = 1
/** Only the metrics show this status: the client has gone. The number is that of nginx. */
const CLIENT_GONE_STATUS = 499

/** Fastify's own errors, mapped to codes of the contract. */
const OF_FASTIFY: Readonly<
  Record<string, { code: ErrorCode; message: string | ((request: FastifyRequest) => string) }>
> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    message: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'body_too_large',
    message: ({ routeOptions }) => bodyTooLarge(routeOptions.bodyLimit),
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'malformed_json', message: 'The body is not valid JSON.' },
}

/** A refusal for a reason of HTTP, such as a malformed header, rather than of a module's rules. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal'
  readonly code: ErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.code = code
    this.headers = headers
  }
}

/** @param requestId left out for one item of a request */
export function problemOf(failure: Failure, requestId?: string): Problem {
  const { message, code, ...id } = problem(failure.code, failureText(failure), requestId)
  const { fields, details } = failure
  const faults = fields && mapFields(fields, presentFault)
  return {
    message,
    code,
    ...(fields && { errors: mapFields(fields, faultText), faults }),
    ...(details && { details }),
    ...id,
  }
}

/** A fault in an answer, with its text. */
export function presentFault(fault: Fault): FaultResource {
  return { ...fault, message: faultText(fault) } as FaultResource
}

function mapFields<T>(fields: FieldFaults, present: (fault: Fault) => T): Record<string, T[]> {
  const entries = Object.entries(fields)
  return Object.fromEntries(entries.map(([field, faults]) => [field, faults.map(present)]))
}

/**
 * Answers an expected error with its own message; logs any other and answers 500.
 *
 * @param unavailable logs why requests are refused, once for each kind
 */
export function sendError(
  error: unknown,
  {
    request,
    reply,
    unavailable,
  }: {
    request: FastifyRequest
    reply: FastifyReply
    unavailable: StateLog
  },
): void {
  if (error instanceof Failure) {
    const challenge = challengeFor(error.code, request.headers.authorization)
    if (challenge !== undefined) reply.header('WWW-Authenticate', challenge)
    if (error.code === 'rate_limited' || error.code === 'too_many_attempts') {
      reply.header('Retry-After', String(error.retryAfterSeconds ?? BUSY_RETRY_SECONDS))
    }
    if (error.code === 'unavailable') {
      reply.header('Retry-After', String(UNAVAILABLE_RETRY_SECONDS))
      const first = { reqId: request.id, reason: error.message, err: error.cause }
      unavailable.report(error.unavailable ?? 'database', first)
    }
    sendProblem(reply, problemOf(error, request.id))
    return
  }
  if (error instanceof QueueRefusal) {
    reply.header('Retry-After', String(error.retryAfterSeconds))
    send(reply, error.reason === 'owner_full' ? 'queue_full' : 'overloaded', error.message)
    return
  }
  if (error instanceof TaskThreadEnded) {
    request.log.warn({ reqId: request.id, err: error }, 'worker thread ended')
    reply.header('Retry-After', String(UNAVAILABLE_RETRY_SECONDS))
    send(reply, 'unavailable', 'The work was interrupted. Send the request again.')
    return
  }
  if (error instanceof HttpRefusal) {
    reply.headers(error.headers)
    send(reply, error.code, error.message)
    return
  }
  if (request.signal.aborted && error === request.signal.reason) {
    reply.code(CLIENT_GONE_STATUS).send()
    return
  }
  const known = OF_FASTIFY[codeOf(error)]
  if (known !== undefined) {
    const { code, message } = known
    send(reply, code, typeof message === 'string' ? message : message(request))
    return
  }
  const status = statusOf(error)
  if (status !== undefined && status < 500) {
    send(reply, 'bad_request', 'The request is not in a form that this server accepts.')
    return
  }
  request.log.error({ reqId: request.id, err: error }, 'request failed')
  send(reply, 'internal', `Something went wrong on our side. Please report request ${request.id}.`)
}

/**
 * The value of `WWW-Authenticate`. It names no error when no token was sent, because the client may not
 * have known that it needs one (RFC 6750, section 3.1).
 */
function challengeFor(code: ErrorCode, authorization: string | undefined): string | undefined {
  if (code === 'missing_scope') return 'Bearer error="insufficient_scope"'
  if (code !== 'unauthorized') return undefined
  return /^Bearer +\S/i.test(authorization ?? '') ? 'Bearer error="invalid_token"' : 'Bearer'
}

function send(reply: FastifyReply, code: ErrorCode, message: string): void {
  sendProblem(reply, problem(code, message, reply.request.id))
}

function sendProblem(reply: FastifyReply, body: Problem): void {
  reply
    .code(STATUS[body.code])
    .header('Content-Type', 'application/json; charset=utf-8')
    .send(JSON.stringify(body))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof SyntaxError) return 400
  return error instanceof Error ? (error as FastifyError).statusCode : undefined
}
