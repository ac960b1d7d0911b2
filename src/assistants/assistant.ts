import type { AssistantScope } from '@terse/contract/assistants'
import { type Actor, ASSISTANT_PERMISSIONS, type Permission } from '../identity/index.ts'
import { BASE62, type Random, randomString } from '../platform/crypto/random.ts'
import { formatInstant } from '../platform/time/clock.ts'
import type { NewEvent } from '../storage/event-log.ts'

/** A program that a person lets work in their name, in one workspace. Times are microseconds since the epoch. */
export type Assistant = {
  readonly id: string
  readonly workspace_id: string
  readonly person_id: string
  readonly client_id: string
  readonly client_name: string
  readonly scopes: readonly AssistantScope[]
  readonly created_at: number
  readonly expires_at: number
  readonly last_used_at: number | null
}

export const DAY_MICROS = 24 * 60 * 60 * 1_000_000

/** Which kind of secret it is shows in its prefix, for people who find one and for secret scanners. */
export const SECRETS = {
  code: { prefix: 'terse_code_', lifetimeMicros: 5 * 60 * 1_000_000 },
  access: { prefix: 'terse_access_', lifetimeMicros: 60 * 60 * 1_000_000 },
  /** A program that is not used for this long asks again. */
  refresh: { prefix: 'terse_refresh_', lifetimeMicros: 60 * DAY_MICROS },
} as const

export type SecretKind = keyof typeof SECRETS

/** 238 bits. */
const SECRET_LENGTH = 40

export function newSecret(kind: SecretKind, random: Random): string {
  return SECRETS[kind].prefix + randomString(random, BASE62, SECRET_LENGTH)
}

export function isAccessSecret(text: string): boolean {
  return text.startsWith(SECRETS.access.prefix)
}

/** An assistant as an actor: the person who allowed it, with no more than was allowed. */
export function assistantActor(person: Actor, { client_name, scopes }: Assistant): Actor {
  const allowed = new Set<Permission>(scopes.flatMap((scope) => ASSISTANT_PERMISSIONS[scope]))
  return {
    ...person,
    name: `${person.name} (${client_name})`,
    permissions: person.permissions.intersection(allowed),
    isOperator: false,
    hasAuthenticatedRecently: false,
  }
}

export function assistantEvent(
  type: 'assistant.allowed' | 'assistant.withdrawn',
  { id, client_name, scopes, expires_at }: Assistant,
): NewEvent {
  const fields = { name: client_name, scopes, expires_at: formatInstant(expires_at) }
  return type === 'assistant.allowed'
    ? { type, subjectId: id, before: null, after: fields }
    : { type, subjectId: id, before: fields, after: null }
}
