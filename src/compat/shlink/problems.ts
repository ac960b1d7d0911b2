import { STATUS_CODES } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { CallRefused, type Refusal } from '../../identity/index.ts'
import { refusalOf } from '../refusals.ts'

const TYPES = 'https://shlink.io/api/error/'

type Extra = Readonly<Record<string, unknown>>

/** An error as Shlink's API answers it. */
export class ShlinkProblem extends Error {
  override readonly name = 'ShlinkProblem'
  readonly status: number
  readonly body: Extra
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    { type, title, detail }: { type: string; title: string; detail: string },
    { extra = {}, headers = {} }: { extra?: Extra; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.status = status
    this.body = { title, type, detail, status, ...extra }
    this.headers = headers
  }
}

function known(status: number, code: string, title: string, detail: string, extra: Extra = {}) {
  return new ShlinkProblem(status, { type: TYPES + code, title, detail }, { extra })
}

/** @param reason a sentence for people; Shlink gives none */
export function invalidData(elements: readonly string[], reason = ''): ShlinkProblem {
  const detail = ['Provided data is not valid', reason].filter((part) => part !== '').join('. ')
  return known(400, 'invalid-data', 'Invalid data', detail, { invalidElements: elements })
}

export function noApiKey(): ShlinkProblem {
  const detail =
    'Expected one of the following authentication headers, ["X-Api-Key"], but none were provided'
  const extra = { expectedHeaders: ['X-Api-Key'] }
  return known(401, 'missing-authentication', 'Invalid authorization', detail, extra)
}

export function shortUrlNotFound(shortCode: string, domain: string | undefined): ShlinkProblem {
  const detail = `No URL found with short code "${shortCode}"${forDomain(domain)}`
  const extra = { shortCode, ...(domain !== undefined && { domain }) }
  return known(404, 'short-url-not-found', 'Short URL not found', detail, extra)
}

export function nonUniqueSlug(customSlug: string, domain: string | undefined): ShlinkProblem {
  const detail = `Provided slug "${customSlug}" is already in use${forDomain(domain)}.`
  const extra = { customSlug, ...(domain !== undefined && { domain }) }
  return known(400, 'non-unique-slug', 'Invalid custom slug', detail, extra)
}

export function domainNotFound(authority: string): ShlinkProblem {
  const detail = `Domain with authority "${authority}" could not be found`
  return known(404, 'domain-not-found', 'Domain not found', detail, { authority })
}

export function tagNotFound(tag: string): ShlinkProblem {
  const detail = `Tag with name "${tag}" could not be found`
  return known(404, 'tag-not-found', 'Tag not found', detail, { tag })
}

export function tagConflict(oldName: string, newName: string): ShlinkProblem {
  const detail = `You cannot rename tag ${oldName} to ${newName}, because it already exists`
  return known(409, 'tag-conflict', 'Tag conflict', detail, { oldName, newName })
}

/** Shlink's own clients know this type as that of every operation that a key may not do. */
export function forbidden(detail: string): ShlinkProblem {
  return known(403, 'forbidden-tag-operation', 'Forbidden operation', detail)
}

export function noMercure(): ShlinkProblem {
  const detail = 'This Shlink instance is not integrated with a mercure hub.'
  return known(501, 'mercure-not-configured', 'Mercure integration not configured', detail)
}

export function notFound(method: string, url: string): ShlinkProblem {
  // Its query may have an API key.
  const [path = ''] = url.split('?')
  return known(404, 'not-found', 'Not Found', `Cannot ${method} ${path}!`)
}

/** Converts an error to Shlink's form. Logs an unexpected one. */
export function problemOf(error: unknown, request: FastifyRequest): ShlinkProblem {
  if (error instanceof ShlinkProblem) return error
  if (error instanceof CallRefused && error.refusal.code === 'validation_failed') {
    return invalidFields(error.refusal)
  }
  if (isMalformed(error)) {
    const detail = 'Provided request does not contain a valid JSON body.'
    return known(400, 'malformed-request-body', 'Malformed request body', detail)
  }
  const { status, message, headers } = refusalOf(error, request)
  if (status === 401) {
    const detail = 'Provided API key does not exist or is invalid.'
    return known(401, 'invalid-api-key', 'Invalid API key', detail)
  }
  if (status === 500) {
    return known(500, 'internal-server-error', 'Internal Server Error', message)
  }
  // Shlink has no type for these.
  const problem = { type: 'about:blank', title: STATUS_CODES[status] ?? '', detail: message }
  return new ShlinkProblem(status, problem, { headers })
}

/** Whether Fastify could not parse the body. */
function isMalformed(error: unknown): boolean {
  const { code, statusCode } = error as Record<string, unknown>
  const isRefused = error instanceof SyntaxError && statusCode === 400
  return isRefused || code === 'FST_ERR_CTP_INVALID_JSON_BODY'
}

function invalidFields(refusal: Refusal): ShlinkProblem {
  const names = Object.keys(refusal.errors ?? {}).map((field) => field.split('.', 1)[0] ?? '')
  return invalidData([...new Set(names.map(elementOf))], reasonOf(refusal))
}

/** What Shlink calls the fields of a link. */
const ELEMENTS: Readonly<Record<string, string>> = {
  url: 'longUrl',
  key: 'customSlug',
  notes: 'title',
  active_from: 'validSince',
  expires_at: 'validUntil',
  max_clicks: 'maxVisits',
  tag: 'tags',
  search: 'searchTerm',
  created_after: 'startDate',
  created_before: 'endDate',
  from: 'startDate',
  to: 'endDate',
  rules: 'redirectRules',
}

function elementOf(field: string): string {
  return ELEMENTS[field] ?? field
}

function reasonOf({ errors = {} }: Refusal): string {
  const sentences = Object.entries(errors).map(([field, texts]) => {
    const [name = '', ...parts] = field.split('.')
    return `${[elementOf(name), ...parts].join('.')} ${texts.join('; ')}`
  })
  return sentences.length === 0 ? '' : `${sentences.join('. ')}.`
}

function forDomain(domain: string | undefined): string {
  return domain === undefined ? '' : ` for domain "${domain}"`
}
