import type { FastifyReply, FastifyRequest } from 'fastify'
import { CallRefused } from '../../identity/index.ts'
import { refusalOf } from '../refusals.ts'

/** A refusal in Kutt's own words. */
export class KuttRefusal extends Error {
  override readonly name = 'KuttRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What Kutt calls the fields of a link; the others have the same names in both. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  url: 'target',
  notes: 'description',
  expires_at: 'expire_in',
}

/** Kutt's texts for faults of a field, by the code of the fault; `*` for all others. */
const TEXTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  url: { '*': 'URL is not valid.' },
  key: {
    taken: 'Custom URL is already in use.',
    reserved: "You can't use this custom URL.",
    '*': 'Custom URL is not valid.',
  },
  domain: { '*': "You can't use this domain." },
}

/** Answers `{"error": "…"}`, as Kutt does. */
export function sendRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof KuttRefusal) {
    return reply.code(error.status).send({ error: error.message })
  }
  const { status, message, headers } = refusalOf(error, request)
  reply.headers(headers)
  if (status === 401) return reply.code(401).send({ error: 'Unauthorized.' })
  const fault = error instanceof CallRefused ? faultText(error) : undefined
  if (fault !== undefined) return reply.code(400).send({ error: fault })
  return reply.code(status).send({ error: message })
}

/** Returns what Kutt says of the first field that our API refuses; undefined where it refuses none. */
function faultText({ refusal: { errors = {}, faults = {} } }: CallRefused): string | undefined {
  const [field, [fault] = []] = Object.entries(faults)[0] ?? []
  if (field === undefined) return undefined
  const texts = TEXTS[field]
  const own = `${FIELD_NAMES[field] ?? field} ${errors[field]?.[0] ?? 'is invalid'}`
  return texts?.[fault?.code ?? ''] ?? texts?.['*'] ?? own
}
