import { hash } from 'node:crypto'
import type { Role } from '@terse/contract/roles'
import { type Random, uuidV7 } from '../platform/crypto/random.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { NewEvent } from '../storage/event-log.ts'
import type { Actor } from './actor.ts'
import type { FoundLink, OneTimeLink, OneTimeLinkStore } from './store/one-time-link-store.ts'

/** What links have that are not about one person or workspace. */
export const NO_SUBJECT = {
  person_id: null,
  email: null,
  email_folded: null,
  workspace_id: null,
  role: null,
} as const

/** The columns of a link that name its maker, who is judged again when the link is used. */
export function madeBy({
  name,
  kind,
  id,
}: Pick<Actor, 'name' | 'kind' | 'id'>): Pick<
  OneTimeLink,
  'created_by' | 'created_by_kind' | 'created_by_id'
> {
  return { created_by: name, created_by_kind: kind, created_by_id: id }
}

const CODE_BYTES = 32

/** The secret of a one-time link, in base64url. */
function generateCode(random: Random): string {
  return Buffer.from(random(CODE_BYTES)).toString('base64url')
}

/** All that is stored of a code: its SHA-256, in hexadecimal. It has too many bits to be guessed. */
export function hashCode(code: string): string {
  return hash('sha256', code, 'hex')
}

type NewLink = Omit<OneTimeLink, 'id' | 'created_at' | 'expires_at' | 'used_at'>

/**
 * Makes a one-time link within a transaction. The codes are returned here and stored nowhere: one to show to the maker of
 * the link, and one for a mail to its person. A caller who sends the mailed code reads mail to the address.
 */
export async function createOneTimeLink(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  store: OneTimeLinkStore,
  link: NewLink,
  lifetimeMicros: number,
): Promise<{ readonly link: OneTimeLink; readonly code: string; readonly mailedCode: string }> {
  const now = clock.nowMicros()
  const code = generateCode(random)
  const made: OneTimeLink = {
    ...link,
    id: uuidV7(clock, random),
    created_at: now,
    expires_at: now + lifetimeMicros,
    used_at: null,
  }
  const mailedCode = generateCode(random)
  await store.insert(made, { shown: hashCode(code), mailed: hashCode(mailedCode) })
  return { link: made, code, mailedCode }
}

/** An open invitation: a one-time link that has an address, a workspace and a role. */
export type Invitation = OneTimeLink & {
  readonly email: string
  readonly email_folded: string
  readonly workspace_id: string
  readonly role: Role
}

/** @throws for a link of another kind */
export function invitationOf(link: OneTimeLink): Invitation {
  const { email, email_folded, workspace_id, role } = link
  if (email === null || email_folded === null || workspace_id === null || role === null) {
    throw new Error(`the one-time link ${link.id} is no invitation`)
  }
  return { ...link, email, email_folded, workspace_id, role }
}

export function invitationEvent(
  type: 'invitation.created' | 'invitation.deleted' | 'invitation.accepted',
  { id, email, role }: Invitation,
): NewEvent {
  const fields = { email, role }
  return type === 'invitation.created'
    ? { type, subjectId: id, before: null, after: fields }
    : { type, subjectId: id, before: fields, after: null }
}

/**
 * Whether the code by which an invitation was found creates an account. Where invitations are mailed, only the mailed one
 * does: the inviting person has seen the other, and would learn whether the address has an account, or prepare one for its
 * owner. Operators, who know all accounts, hand theirs over from the command line.
 */
export function canCreateAccount(
  { is_mailed, created_by_kind }: Pick<FoundLink, 'is_mailed' | 'created_by_kind'>,
  sendsMail: boolean,
): boolean {
  return is_mailed || !sendsMail || created_by_kind === 'system'
}

/** The page that accepts an invitation. Browsers do not send what is behind `#`, so no log has the code. */
export function invitationAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/invitation#code=${code}`
}
