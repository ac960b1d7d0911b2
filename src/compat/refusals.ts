import type { ErrorCode } from '@terse/contract/errors'
import type { FastifyRequest } from 'fastify'
import { CallRefused, type Refusal } from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import { failureText } from '../platform/failure-text.ts'
import { HttpRefusal } from '../platform/http/api/problem.ts'

/** Why a request is not answered as asked, for each service to say in its own form. */
export type CompatRefusal = {
  readonly status: number
  readonly message: string
  /** What the API found wrong with which of its fields. */
  readonly faults: NonNullable<Refusal['faults']>
  /** `Retry-After`, where the same request may succeed later. */
  readonly headers: Readonly<Record<string, string>>
}

/** The status of errors that occur before the API is called; 400 for all others. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  unauthorized: 401,
  not_found: 404,
  rate_limited: 429,
  too_many_attempts: 429,
  unavailable: 503,
}

/** `Retry-After` in seconds, where an error names none. */
const RETRY_SECONDS = 2

/** Returns why a request failed, whichever part of the service refused it. Logs an unexpected error. */
export function refusalOf(error: unknown, { id, log }: FastifyRequest): CompatRefusal {
  if (error instanceof CallRefused) {
    const { status, message, refusal, retryAfter } = error
    return { status, message, faults: refusal.faults ?? {}, headers: retryHeaders(retryAfter) }
  }
  if (error instanceof HttpRefusal) {
    const { message, headers } = error
    return { status: STATUS[error.code] ?? 400, message, faults: {}, headers }
  }
  if (error instanceof Failure) {
    const status = STATUS[error.code] ?? 400
    const seconds = status >= 429 ? String(error.retryAfterSeconds ?? RETRY_SECONDS) : undefined
    return { status, message: failureText(error), faults: {}, headers: retryHeaders(seconds) }
  }
  const status = (error as { readonly statusCode?: number }).statusCode
  if (status !== undefined && status < 500) {
    return { status, message: (error as Error).message, faults: {}, headers: {} }
  }
  log.error({ reqId: id, err: error }, 'request failed')
  const message = `Something went wrong on our side. Please report request ${id}.`
  return { status: 500, message, faults: {}, headers: {} }
}

/** Whether the API refused a field, for one of these reasons. */
export function hasFault({ faults = {} }: Refusal, field: string, ...codes: string[]): boolean {
  return faults[field]?.some(({ code }) => codes.includes(code)) ?? false
}

/** Returns what is wrong with the first field that the API refused; undefined where it refused none. */
export function firstError({ errors = {} }: Refusal): string | undefined {
  const [text] = Object.entries(errors).map(([field, texts]) => `${field} ${texts[0]}`)
  return text
}

function retryHeaders(seconds: string | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'Retry-After': seconds }
}
