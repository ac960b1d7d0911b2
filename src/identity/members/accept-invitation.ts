import { sessionChange } from '../../platform/changes/change.ts'
import type { Random } from '../../platform/crypto/random.ts'
import { uuidV7 } from '../../platform/crypto/uuid.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { personActor } from '../actor.ts'
import { endLostGrants, findGranted, type JudgeStores } from '../grants/grants.ts'
import { hashCode } from '../one-time-links/one-time-code.ts'
import type { PasswordWriteStores, PeoplePasswords } from '../people/people-passwords.ts'
import { type Person, personCreated } from '../people/person.ts'
import { requirePersonName } from '../people/person-name.ts'
import type { SignedIn } from '../sessions/session-cache.ts'
import type { OpenedSession, Sessions } from '../sessions/sessions.ts'
import type { WorkspaceStore } from '../workspaces/store/workspace-store.ts'
import { type Invitation, invitationEvent, invitationOf } from './invitation.ts'
import { invalidInvitation } from './invitations.ts'
import type { Membership } from './membership.ts'

export type AcceptStores = PasswordWriteStores &
  JudgeStores & { readonly workspaces: WorkspaceStore }

/** What a person who has no account yet gives. */
export type NewAccount = { readonly name: string; readonly password: string }

export class AcceptInvitation {
  readonly #store: Store<AcceptStores>
  readonly #clock: Clock
  readonly #random: Random
  readonly #passwords: PeoplePasswords
  readonly #sessions: Sessions

  constructor(deps: {
    store: Store<AcceptStores>
    clock: Clock
    random: Random
    passwords: PeoplePasswords
    sessions: Sessions
  }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#random = deps.random
    this.#passwords = deps.passwords
    this.#sessions = deps.sessions
  }

  /**
   * Makes a person who is signed in a member.
   *
   * @throws {Failure} `validation_failed` for a code that is not valid, or for another address than the person's
   */
  async asMember(code: string, { person }: SignedIn, requestId: string): Promise<void> {
    await this.#store.write((stores) => this.join(stores, code, person, requestId))
  }

  /**
   * Creates the person, who becomes a member and is signed in.
   *
   * @throws {Failure} `validation_failed` for a code that is not valid, or an unusable password;
   *   `unauthorized` where the address has an account
   */
  async asNewPerson(
    code: string,
    account: NewAccount,
    { device, requestId }: { readonly device: string; readonly requestId: string },
  ): Promise<OpenedSession> {
    const now = this.#clock.nowMicros()
    const hash = hashCode(code)
    const at = { nowMicros: now, isUse: false }
    const link = await findGranted(this.#store.read, 'invitation', hash, at)
    if (link === undefined) throw invalidInvitation()
    const { email, email_folded } = invitationOf(link)
    const person: Person = {
      id: uuidV7(this.#clock, this.#random),
      email,
      email_folded,
      name: requirePersonName(account.name),
      is_operator: false,
      created_at: now,
      disabled_at: null,
    }
    // Before the slow hash; the transaction is what counts.
    if ((await this.#store.read.people.findByEmail(email_folded)) !== undefined) {
      throw accountExists(email)
    }
    const password = await this.#passwords.prepare(person, account.password)
    const author = { ...personActor(person, undefined, true), requestId }
    return this.#store.write(async (stores) => {
      if (!(await stores.people.insert(person))) throw accountExists(email)
      await stores.passwords.set(person.id, { ...password, changed_at: now })
      await stores.events.append(author, personCreated(person), now)
      await this.join(stores, code, person, requestId)
      return this.#sessions.start(stores, author, person.id, device)
    })
  }

  /**
   * Uses an invitation within a transaction.
   *
   * @throws {Failure} `validation_failed` where it is not open, not for this person, or its maker may no longer invite
   */
  async join(
    stores: AcceptStores,
    code: string,
    person: Person,
    requestId: string,
  ): Promise<Invitation> {
    const now = this.#clock.nowMicros()
    const hash = hashCode(code)
    const link = await findGranted(stores, 'invitation', hash, { nowMicros: now, isUse: true })
    if (link === undefined) throw invalidInvitation()
    const invitation = invitationOf(link)
    const { workspace_id, role } = invitation
    if (invitation.email_folded !== person.email_folded) {
      throw Failure.invalid({
        code: [`is for ${invitation.email}; you are signed in as ${person.email}`],
      })
    }
    await stores.memberships.lock(workspace_id)
    const isOpen =
      (await stores.workspaces.findById(workspace_id)) !== undefined &&
      (await stores.oneTimeLinks.use('invitation', hash, now)) !== undefined
    if (!isOpen) throw invalidInvitation()
    const joined = { workspace_id, person_id: person.id, role, created_at: now }
    const membership: Membership = { ...joined, source: 'hand' }
    if (!(await stores.memberships.insert(membership))) {
      throw Failure.invalid({ code: ['leads to a workspace of which you are a member'] })
    }
    const author = {
      ...personActor(person, undefined, true),
      workspaceId: workspace_id,
      requestId,
    }
    await stores.events.append(author, invitationEvent('invitation.accepted', invitation), now)
    const added = { type: 'member.added', subjectId: person.id, before: null } as const
    await stores.events.append(author, { ...added, after: { email: person.email, role } }, now)
    await stores.changes.append(sessionChange(person.id), now)
    await endLostGrants(stores, person.id, now)
    return invitation
  }
}

function accountExists(email: string): Failure {
  return Failure.unauthorized(`Sign in as ${email} to accept this invitation.`)
}
