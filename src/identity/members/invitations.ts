import type { Role } from '@terse/contract/roles'
import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { SealedRequest } from '../../platform/http/api/idempotency.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { sessionChange } from '../../storage/changes.ts'
import { type IdempotencyStores, runIdempotent } from '../../storage/idempotency.ts'
import type { Store } from '../../storage/store.ts'
import { type Actor, personActor } from '../actor.ts'
import {
  type ActingStores,
  endLostGrants,
  findGranted,
  type GrantStores,
  type JudgeStores,
  requireActor,
} from '../grants.ts'
import {
  canCreateAccount,
  createOneTimeLink,
  hashCode,
  type Invitation,
  invitationEvent,
  invitationOf,
  madeBy,
  NO_SUBJECT,
} from '../one-time-links.ts'
import {
  type AccessStores,
  dropAccess,
  type KeptIdentity,
  proveAddress,
} from '../people/addresses.ts'
import type { PasswordWriteStores, PeoplePasswords } from '../people/passwords.ts'
import {
  foldEmail,
  type Person,
  parseEmail,
  personCreated,
  requirePersonName,
} from '../people/person.ts'
import { requireRankOver, requireRecentAuthentication } from '../permissions.ts'
import { FRESH_MICROS } from '../sign-in/session.ts'
import {
  type OpenedSession,
  requireSession,
  type Sessions,
  type SignedIn,
} from '../sign-in/sessions.ts'
import { wrongSignIn } from '../sign-in/sign-in.ts'
import type { Membership } from '../store/membership-store.ts'
import type { FoundLink } from '../store/one-time-link-store.ts'
import type { WorkspaceStore } from '../store/workspace-store.ts'

const VALID_MICROS = 7 * 24 * 60 * 60 * 1_000_000
/** Open invitations of a workspace: more than any team has, and a bound for a hostile one. */
const OPEN_MAX = 1_000

/** Invitations that a workspace may send in an hour, each of which may be a mail to a stranger. */
export const INVITATION_LIMITS = { limit: 200, windowSeconds: 3_600, keysMax: 10_000 }

export type InvitationDetails = {
  readonly invitation: Invitation
  readonly workspaceName: string
  readonly workspaceTitle: string
  /** Undefined for a code that the inviting person has seen: they must not learn it. */
  readonly accountExists: boolean | undefined
  readonly canCreateAccount: boolean
}

type CreatedInvitation = {
  readonly invitation: Invitation
  readonly code: string
  /** Undefined when an earlier request has made the invitation. */
  readonly mailedCode: string | undefined
}

type InvitationStores = GrantStores &
  ActingStores &
  IdempotencyStores & { readonly workspaces: WorkspaceStore }

type InvitationsDependencies = {
  readonly store: Store<InvitationStores>
  readonly clock: Clock
  readonly random: Random
  /** By `INVITATION_LIMITS`; undefined for no limit. */
  readonly throttle: Throttle | undefined
  /** Whether invitations are mailed too. */
  readonly sendsMail: boolean
}

/** The operations on the invitations into a workspace, until they are accepted. */
export class Invitations {
  readonly #deps: InvitationsDependencies

  constructor(deps: InvitationsDependencies) {
    this.#deps = deps
  }

  /**
   * Replaces an open invitation of the same address. The codes are returned here, and `code` is otherwise kept only for a
   * repetition of the request. That for a mail to the address proves it, so no other person may see it, and it is not stored.
   *
   * @throws {Failure} `validation_failed` for a member's address; `missing_role` or
   *   `authentication_required` as `requireRankOver`; `rate_limited`, `idempotency_conflict`
   */
  async create(
    by: Actor,
    given: { readonly email: string; readonly role: Role },
    repeatable?: SealedRequest,
  ): Promise<CreatedInvitation> {
    const { workspaceId } = by
    const email = parseEmail(given.email)
    if ('fault' in email) throw Failure.invalid({ email: [email.fault] })
    this.#charge(workspaceId)
    const emailFolded = foldEmail(email.value)
    let mailedCode: string | undefined
    const now = this.#deps.clock.nowMicros()
    const work = async (stores: InvitationStores, actor: Actor) => {
      if (await stores.memberships.hasAddress(workspaceId, emailFolded)) {
        throw Failure.invalid({ email: [{ code: 'taken', reason: 'member' }] })
      }
      await stores.oneTimeLinks.deleteInvitationsOf(workspaceId, emailFolded)
      const open = await stores.oneTimeLinks.listInvitations(workspaceId, now)
      if (open.length >= OPEN_MAX) {
        throw Failure.invalid({
          email: [{ code: 'limit_reached', reason: 'invitations', max: OPEN_MAX }],
        })
      }
      const made = await createOneTimeLink(
        { clock: this.#deps.clock, random: this.#deps.random },
        stores.oneTimeLinks,
        {
          ...NO_SUBJECT,
          kind: 'invitation',
          email: email.value,
          email_folded: emailFolded,
          workspace_id: workspaceId,
          role: given.role,
          ...madeBy(actor),
        },
        VALID_MICROS,
      )
      mailedCode = made.mailedCode
      const invitation = invitationOf(made.link)
      await stores.events.append(actor, invitationEvent('invitation.created', invitation), now)
      return { invitation, code: made.code }
    }
    const created = await this.#deps.store.write(async (stores) => {
      mailedCode = undefined
      const actor = await requireActor(stores, by, 'invitations.create', { nowMicros: now })
      requireRankOver(actor, given.role)
      return runIdempotent(stores, workspaceId, repeatable, now, {
        read: async () => {},
        write: () => work(stores, actor),
      })
    })
    return { ...created, mailedCode }
  }

  /** Returns the open invitations, oldest first. */
  async list({ workspaceId }: Actor): Promise<readonly Invitation[]> {
    const now = this.#deps.clock.nowMicros()
    const links = await this.#deps.store.read.oneTimeLinks.listInvitations(workspaceId, now)
    return links.map(invitationOf)
  }

  /** @throws {Failure} `not_found` also for an invitation that was accepted */
  async delete(by: Actor, id: string): Promise<void> {
    const notFound = Failure.notFound('Invitation')
    if (!isUuid(id)) throw notFound
    await this.#deps.store.write(async (stores) => {
      const now = this.#deps.clock.nowMicros()
      const actor = await requireActor(stores, by, 'invitations.delete', { nowMicros: now })
      const link = await stores.oneTimeLinks.deleteInvitation(actor.workspaceId, id)
      if (link === undefined) throw notFound
      const event = invitationEvent('invitation.deleted', invitationOf(link))
      await stores.events.append(actor, event, now)
    })
  }

  /**
   * Reads an open invitation without using it.
   *
   * @throws {Failure} `validation_failed` for a code that is not valid
   */
  async lookUp(code: string): Promise<InvitationDetails> {
    const { read } = this.#deps.store
    const { workspaces, people } = read
    const at = { nowMicros: this.#deps.clock.nowMicros(), isUse: false }
    const link = await findGranted(read, 'invitation', hashCode(code), at)
    if (link === undefined) throw invalidInvitation()
    const invitation = invitationOf(link)
    const workspace = await workspaces.findById(invitation.workspace_id)
    if (workspace === undefined) throw invalidInvitation()
    const { name: workspaceName, title: workspaceTitle } = workspace
    const details = { invitation, workspaceName, workspaceTitle }
    if (!link.is_mailed) {
      const mayCreate = canCreateAccount(link, this.#deps.sendsMail)
      return { ...details, accountExists: undefined, canCreateAccount: mayCreate }
    }
    const accountExists = (await people.findByEmail(invitation.email_folded)) !== undefined
    return { ...details, accountExists, canCreateAccount: !accountExists }
  }

  #charge(workspaceId: string): void {
    const verdict = this.#deps.throttle?.take(workspaceId)
    if (verdict === undefined || verdict.allowed) return
    throw Failure.tooMany(
      `This workspace has sent ${INVITATION_LIMITS.limit} invitations within the hour.`,
      verdict.resetSeconds,
    )
  }
}

function invalidInvitation(): Failure {
  return Failure.invalid({ code: [{ code: 'invalid_code', reason: 'invitation' }] })
}

export type AcceptStores = PasswordWriteStores &
  JudgeStores &
  AccessStores & { readonly workspaces: WorkspaceStore }

/** From where a person accepts. */
type Origin = { readonly device: string; readonly requestId: string }

/** What a person who has no account yet gives. */
type NewAccount = { readonly name: string; readonly password: string }

type AcceptInvitationDependencies = {
  readonly store: Store<AcceptStores>
  readonly clock: Clock
  readonly random: Random
  readonly passwords: PeoplePasswords
  readonly sessions: Sessions
  /** Whether invitations are mailed too. */
  readonly sendsMail: boolean
}

export class AcceptInvitation {
  readonly #deps: AcceptInvitationDependencies

  constructor(deps: AcceptInvitationDependencies) {
    this.#deps = deps
  }

  /**
   * Makes a person who is signed in a member. Returns a new session where their address was unproved: the maker of the
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
      newPassword === undefined
        ? undefined
        : await this.#deps.passwords.prepare(person, newPassword)
    return this.#deps.store.write(async (stores) => {
      await stores.people.lock(person.id)
      await requireSession(stores, person.id, session.id)
      const { hasDropped } = await this.join(stores, code, person, { requestId })
      if (!hasDropped) return undefined
      if (password === undefined) throw passwordNeeded()
      const now = this.#deps.clock.nowMicros()
      // A stolen session must not be enough for a new password.
      requireRecentAuthentication({
        hasAuthenticatedRecently: now - session.authenticated_at < FRESH_MICROS,
      })
      const set = { password, keptSessionId: undefined, now }
      await this.#deps.passwords.set(stores, author, person.id, set)
      return this.#deps.sessions.start(stores, author, person.id, device)
    })
  }

  /** As `canCreateAccount` of an invitation. */
  canCreateAccount(link: FoundLink): boolean {
    return canCreateAccount(link, this.#deps.sendsMail)
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
    const now = this.#deps.clock.nowMicros()
    const hash = hashCode(code)
    const at = { nowMicros: now, isUse: false }
    const link = await findGranted(this.#deps.store.read, 'invitation', hash, at)
    if (link === undefined) throw invalidInvitation()
    const { email, email_folded } = invitationOf(link)
    if (!this.canCreateAccount(link)) throw mailedCodeNeeded(email)
    const person: Person = {
      id: uuidV7(this.#deps.clock, this.#deps.random),
      email,
      email_folded,
      name: requirePersonName(account.name, email),
      is_operator: false,
      created_at: now,
      disabled_at: null,
      email_proved_at: null,
    }
    // Before the account is looked for: bad input does not show by its answer or time whether there is one.
    const password = await this.#deps.passwords.prepare(person, account.password)
    const author = { ...personActor(person, undefined, true), requestId }
    return this.#deps.store.write(async (stores) => {
      if (!(await stores.people.insert(person))) throw accountExists(link)
      await stores.events.append(author, personCreated(person), now)
      await this.join(stores, code, person, { requestId })
      await stores.passwords.set(person.id, { ...password, changed_at: now })
      return this.#deps.sessions.start(stores, author, person.id, device)
    })
  }

  /**
   * Uses an invitation within a transaction. A code that went to the address by mail alone proves it. Without that, and
   * with the first proof, all earlier ways to sign in are dropped.
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
    const now = this.#deps.clock.nowMicros()
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
