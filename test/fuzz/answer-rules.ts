import assert from 'node:assert/strict'
import { problemSchema } from '@terse/contract/errors'
import { z } from 'zod'
import { assertFaults } from '../support/problems.ts'
import type { ReceivedAnswer, SentRequest } from './keep-alive-client.ts'
import type { Operation } from './openapi-operations.ts'

const CODES: Readonly<Record<number, readonly string[]>> = {
  400: ['bad_request', 'malformed_json'],
  401: ['unauthorized', 'second_factor_required'],
  403: ['missing_scope', 'missing_role', 'authentication_required', 'cross_origin'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  409: ['idempotency_conflict', 'in_use', 'examples_changed'],
  412: ['precondition_failed'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  422: ['validation_failed'],
  429: ['rate_limited', 'queue_full'],
}

/** What no answer may reveal: paths of the program, its build, or messages of the database. */
const INNARDS =
  /\bat .+:\d+:\d+\)?(?:\n|$)|node_modules|\/src\/|\.ts\b|file:\/\/|SQLITE_|ECONN|<!doctype|<html/i

const envelope = z.strictObject(problemSchema.shape)

/** The JSON of a body, or undefined for an empty one. */
export function jsonOf({ body }: ReceivedAnswer): unknown {
  return body.length === 0 ? undefined : JSON.parse(body.toString('utf8'))
}

/** Fails on an answer that the OpenAPI document does not describe for the operation. */
export function assertDescribed(
  operation: Operation,
  sent: SentRequest,
  answer: ReceivedAnswer,
): void {
  assertWithin(sent, answer, () => {
    assert.ok(answer.status < 500, 'no input may cause a server error')
    const described = operation.answers.get(answer.status)
    assert.ok(described !== undefined, 'the OpenAPI document lacks this status')
    if (answer.status === 304) {
      assert.equal(answer.body.length, 0)
      assert.match(String(answer.headers.etag), /^(W\/)?"[\w.-]+"$/)
      return
    }
    const [mediaType = ''] = (answer.headers['content-type'] ?? '').split(';')
    const fault = described.get(mediaType)
    assert.ok(fault !== undefined, `the OpenAPI document lacks ${mediaType}`)
    for (const body of bodiesOf(mediaType, answer)) assert.equal(fault(body), undefined)
    if (answer.status >= 400) assertRefusal(answer)
  })
}

/** The values that the schema of a media type applies to: each line of an export, else the whole body. */
function bodiesOf(mediaType: string, answer: ReceivedAnswer): unknown[] {
  const text = answer.body.toString('utf8')
  switch (mediaType) {
    case 'application/json':
      return [jsonOf(answer)]
    case 'application/x-ndjson':
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    case 'text/csv':
      assert.match(text, /^"(?:at","link_id|id","(?:domain|event))",(?:.*\r\n)+$/)
      return [text]
    case 'image/svg+xml':
      assert.match(text, /^<svg .*<\/svg>\n$/)
      return [text]
    case 'application/zip':
      assert.equal(answer.body.subarray(0, 2).toString(), 'PK')
      return []
    default:
      assert.equal(answer.body.subarray(1, 4).toString(), 'PNG')
      return []
  }
}

/** Fails unless the answer to a request without an operation is a plain refusal. */
export function assertRefused(sent: SentRequest, answer: ReceivedAnswer): void {
  assertWithin(sent, answer, () => {
    assert.ok([400, 401, 404, 405, 413, 415].includes(answer.status), 'the answer is not a refusal')
    if (sent.method === 'HEAD') assert.equal(answer.body.length, 0)
    else assertRefusal(answer)
  })
}

function assertRefusal(answer: ReceivedAnswer): void {
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  const problem = envelope.parse(jsonOf(answer))
  assert.ok(CODES[answer.status]?.includes(problem.code), `${problem.code} is not for this status`)
  const namesFields = ['validation_failed', 'second_factor_required'].includes(problem.code)
  assert.equal(problem.errors !== undefined, namesFields)
  assertFaults(problem)
  assert.equal(problem.request_id, answer.headers['x-request-id'])
  assert.doesNotMatch(problem.message, INNARDS)
  for (const text of Object.values(problem.errors ?? {}).flat()) assert.doesNotMatch(text, INNARDS)
  if (problem.code === 'unauthorized')
    assert.match(String(answer.headers['www-authenticate']), /^Bearer\b/)
  if (answer.status === 405) assert.match(String(answer.headers.allow), /^[A-Z]+(, [A-Z]+)*$/)
}

/** Adds the request and the answer to the message of a failed check. */
function assertWithin(sent: SentRequest, answer: ReceivedAnswer, check: () => void): void {
  try {
    check()
  } catch (error) {
    const lines = [
      `${sent.method} ${shorten(sent.target)} ${shorten(JSON.stringify(sent.headers))}`,
      `  ${shorten(sent.body?.toString('utf8') ?? '(no body)')}`,
      `→ ${answer.status} ${answer.headers['content-type']} ${shorten(answer.body.toString('utf8'))}`,
      error instanceof Error ? error.message : String(error),
    ]
    throw new Error(lines.join('\n'), { cause: error })
  }
}

function shorten(text: string): string {
  return text.length <= 600 ? text : `${text.slice(0, 600)}… (${text.length} characters)`
}
