import { sessionChange } from '../../platform/changes/changes.ts'
import { type Random, uuidV7 } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { personActor } from '../actor.ts'
import { endLostGrants, findGranted, type JudgeStores } from '../grants/grants.ts'
import { hashCode } from '../one-time-links/one-time-code.ts'
import type { FoundLink } from '../one-time-links/one-time-link.ts'
import {
  type AccessStores,
  dropAccess,
  type KeptIdentity,
  proveAddress,
} from '../people/address-proof.ts'
import type { PasswordWriteStores, PeoplePasswords } from '../people/people-passwords.ts'
import { type Person, personCreated } from '../people/person.ts'
import { requirePersonName } from '../people/person-name.ts'
import { requireRecentAuthentication } from '../permissions.ts'
import { FRESH_MICROS } from '../sessions/session.ts'
import type { SignedIn } from '../sessions/session-cache.ts'
import { type OpenedSession, requireSession, type Sessions } from '../sessions/sessions.ts'
import { wrongSignIn } from '../sign-in/sign-in.ts'
import type { WorkspaceStore } from '../workspaces/store/workspace-store.ts'
import { canCreateAccount, invitationEvent, invitationOf } from './invitation.ts'
import { invalidInvitation } from './invitations.ts'
import type { Membership } from './membership.ts'

export type AcceptStores = PasswordWriteStores &
  JudgeStores &
  AccessStores & { readonly workspaces: WorkspaceStore }

/** From where a person accepts. */
type Origin = { readonly device: string; readonly requestId: string }

/** What a person who has no account yet gives. */
export type NewAccount = { readonly name: string; readonly password: string }

export class AcceptInvitation {
  readonly #store: Store<AcceptStores>
  readonly #clock: Clock
  readonly #random: Random
  readonly #passwords: PeoplePasswords
  readonly #sessions: Sessions
  readonly #sendsMail: boolean

  /** @param deps.sendsMail whether invitations are mailed too */
  constructor(deps: {
    store: Store<AcceptStores>
    clock: Clock
    random: Random
    passwords: PeoplePasswords
    sessions: Sessions
    sendsMail: boolean
  }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#random = deps.random
    this.#passwords = deps.passwords
    this.#sessions = deps.sessions
    this.#sendsMail = deps.sendsMail
  }

  /**
   * Makes a person who is signed in a member. Returns a new session where their address was unproved: whoever made the
   * account may know the password and have other ways in, which end.
   *
   * @param newPassword of a person whose address is unproved
   * @throws {Failure} `validation_failed` for a code that is not valid, for another address than the person's, and where
   *   a new password is needed; `authentication_required` with one
   */
  async asMember(
    code: string,
    { person, session }: SignedIn,
    newPassword: string | undefined,
    { device, requestId }: Origin,
  ): Promise<OpenedSession | undefined> {
    const author = { ...personActor(person, undefined, true), requestId }
    const password =
      newPassword === undefined ? undefined : await this.#passwords.prepare(person, newPassword)
    return this.#store.write(async (stores) => {
      await stores.people.lock(person.id)
      await requireSession(stores, person.id, session.id)
      const { hasDropped } = await this.join(stores, code, person, { requestId })
      if (!hasDropped) return undefined
      if (password === undefined) throw passwordNeeded()
      const now = this.#clock.nowMicros()
      // A session that somebody has found must not be enough for a new password.
      requireRecentAuthentication({
        hasAuthenticatedRecently: now - session.authenticated_at < FRESH_MICROS,
      })
      const set = { password, keptSessionId: undefined, now }
      await this.#passwords.set(stores, author, person.id, set)
      return this.#sessions.start(stores, author, person.id, device)
    })
  }

  /** As `canCreateAccount` of an invitation. */
  canCreateAccount(link: FoundLink): boolean {
    return canCreateAccount(link, this.#sendsMail)
  }

  /**
   * Creates the person, who becomes a member and is signed in.
   *
   * @throws {Failure} `validation_failed` for a code that is not valid, or an unusable password;
   *   `unauthorized` where the address has an account: for a code that the inviter has seen, as for a wrong sign-in
   */
  async asNewPerson(
    code: string,
    account: NewAccount,
    { device, requestId }: Origin,
  ): Promise<OpenedSession> {
    const now = this.#clock.nowMicros()
    const hash = hashCode(code)
    const at = { nowMicros: now, isUse: false }
    const link = await findGranted(this.#store.read, 'invitation', hash, at)
    if (link === undefined) throw invalidInvitation()
    const { email, email_folded } = invitationOf(link)
    if (!this.canCreateAccount(link)) throw mailedCodeNeeded(email)
    const person: Person = {
      id: uuidV7(this.#clock, this.#random),
      email,
      email_folded,
      name: requirePersonName(account.name, email),
      is_operator: false,
      created_at: now,
      disabled_at: null,
      email_proved_at: null,
    }
    // Before the account is looked for: bad input does not show by its answer or time whether there is one.
    const password = await this.#passwords.prepare(person, account.password)
    const author = { ...personActor(person, undefined, true), requestId }
    return this.#store.write(async (stores) => {
      if (!(await stores.people.insert(person))) throw accountExists(link)
      await stores.events.append(author, personCreated(person), now)
      await this.join(stores, code, person, { requestId })
      await stores.passwords.set(person.id, { ...password, changed_at: now })
      return this.#sessions.start(stores, author, person.id, device)
    })
  }

  /**
   * Uses an invitation within a transaction. A code that went to the address by mail alone proves it. Without that, and
   * with the first proof, everything with which somebody could sign in before is dropped.
   *
   * @param from.kept the account with the provider with which the person accepts
   * @throws {Failure} `validation_failed` where it is not open, not for this person, or its maker may no longer invite
   */
  async join(
    stores: AcceptStores,
    code: string,
    { id }: Pick<Person, 'id'>,
    { requestId, kept }: { readonly requestId: string; readonly kept?: KeptIdentity },
  ): Promise<{ readonly hasDropped: boolean }> {
    const now = this.#clock.nowMicros()
    await stores.people.lock(id)
    const person = await stores.people.findById(id)
    if (person === undefined) throw invalidInvitation()
    const hash = hashCode(code)
    const link = await findGranted(stores, 'invitation', hash, { nowMicros: now, isUse: true })
    if (link === undefined) throw invalidInvitation()
    const invitation = invitationOf(link)
    const { workspace_id, role } = invitation
    if (invitation.email_folded !== person.email_folded) {
      throw Failure.invalid({
        code: [{ code: 'other_person', invited: invitation.email, person: person.email }],
      })
    }
    const own = { ...personActor(person, undefined, true), requestId }
    const change = { author: own, person, now }
    const hasDropped = person.email_proved_at === null
    if (hasDropped && link.is_mailed) await proveAddress(stores, change, kept)
    else if (hasDropped) await dropAccess(stores, change, kept)
    const isOpen =
      (await stores.workspaces.findById(workspace_id)) !== undefined &&
      (await stores.oneTimeLinks.use('invitation', hash, now)) !== undefined
    if (!isOpen) throw invalidInvitation()
    const joined = { workspace_id, person_id: person.id, role, created_at: now }
    const membership: Membership = { ...joined, source: 'hand' }
    if (!(await stores.memberships.insert(membership))) {
      throw Failure.invalid({ code: [{ code: 'already_member' }] })
    }
    const author = { ...own, workspaceId: workspace_id }
    await stores.events.append(author, invitationEvent('invitation.accepted', invitation), now)
    const added = { type: 'member.added', subjectId: person.id, before: null } as const
    await stores.events.append(author, { ...added, after: { email: person.email, role } }, now)
    await stores.changes.append(sessionChange(person.id), now)
    await endLostGrants(stores, person.id, now)
    return { hasDropped }
  }
}

function mailedCodeNeeded(email: string): Failure {
  return Failure.invalid({ code: [{ code: 'mailed_link_required', email }] })
}

function passwordNeeded(): Failure {
  return Failure.invalid({ password: [{ code: 'new_password_required' }] })
}

function accountExists(link: FoundLink): Failure {
  if (!link.is_mailed) return wrongSignIn()
  const { email } = invitationOf(link)
  return Failure.unauthorized({ code: 'other_account', email })
}
