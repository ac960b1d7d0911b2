import { type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { EventAuthor } from '../../storage/event-log.ts'
import type { Store } from '../../storage/store.ts'
import { personActor } from '../actor.ts'
import { findGranted } from '../grants.ts'
import type { AcceptInvitation, AcceptStores } from '../members/invitations.ts'
import { hashCode, invitationOf } from '../one-time-links.ts'
import { type AccessChange, dropAccess, proveAddress } from '../people/addresses.ts'
import {
  foldEmail,
  holdsWebAddress,
  type Person,
  parseEmail,
  personCreated,
} from '../people/person.ts'
import {
  type Changer,
  changeFactors,
  type OwnFactorStores,
  requireWayIn,
} from '../second-factors/own-factors.ts'
import type { OpenedSession, Sessions, SessionWriteStores } from '../sign-in/sessions.ts'
import { insertFirstPerson } from '../sign-in/setup.ts'
import { identityIdOf, type UsedChallengeStore } from '../store/credential-store.ts'
import {
  applyGroupRoles,
  endGroupRoles,
  type GroupRole,
  type GroupRoleStores,
  rolesByWorkspace,
} from './group-roles.ts'
import { type OidcAccount, OidcFault, type OidcIntent } from './provider.ts'

type OidcStores = SessionWriteStores &
  GroupRoleStores &
  AcceptStores & { readonly usedChallenges: UsedChallengeStore }

/** From where a person signs in. */
type Origin = {
  readonly device: string
  readonly requestId: string
  /** The session of a person who is signed in already. */
  readonly sessionId: string | undefined
}

const NAME_LENGTH_MAX = 100

/** What an account with the provider leads to. Only issuer and subject count, never the e-mail address. */
export class OidcSignIn {
  readonly #deps: {
    readonly store: Store<OidcStores>
    readonly clock: Clock
    readonly random: Random
    readonly sessions: Sessions
    readonly invitations: AcceptInvitation
    readonly roles: readonly GroupRole[]
    readonly ownerEmail: string | undefined
  }

  /** @param deps.ownerEmail whose sign-in creates the first person; undefined when no sign-in may */
  constructor(deps: {
    store: Store<OidcStores>
    clock: Clock
    random: Random
    sessions: Sessions
    invitations: AcceptInvitation
    roles: readonly GroupRole[]
    ownerEmail: string | undefined
  }) {
    this.#deps = deps
  }

  /**
   * Does what the person began the way through the provider for. Returns the new session; undefined where the
   * person is signed in already.
   *
   * @param redeem marks the attempt as used; false when it was used before
   * @throws {OidcFault}
   */
  complete(
    account: OidcAccount,
    intent: OidcIntent,
    { device, requestId, sessionId }: Origin,
    redeem: (stores: OidcStores) => Promise<boolean>,
  ): Promise<OpenedSession | undefined> {
    const { store, clock, sessions, roles } = this.#deps
    return store.write(async (stores) => {
      if (!(await redeem(stores))) throw new OidcFault('oidc_expired')
      const { id } = await this.#personFor(stores, account, intent, requestId)
      await stores.people.lock(id)
      const isLink = intent.kind === 'link'
      const isSignedIn = sessionId !== undefined && (await stores.sessions.has(id, sessionId))
      if (isLink && !isSignedIn) {
        throw new OidcFault('oidc_session_ended')
      }
      // The person may have unlinked the account since it was found.
      const identity = await stores.identities.find(account.issuer, account.subject)
      const person = await stores.people.findById(id)
      if (identity?.person_id !== id || person?.disabled_at !== null) {
        throw new OidcFault('oidc_unknown')
      }
      const author = authorOf(person, requestId)
      const change = { author, person, now: clock.nowMicros() }
      const byWorkspace = rolesByWorkspace(roles, account.groups)
      const hasGained = await applyGroupRoles(stores, person, byWorkspace, change.now)
      const hasChanged = await this.#settleAddress(stores, change, account, hasGained)
      // The session in which a person links the account goes on, unless it was dropped.
      if (isLink && !hasChanged) return undefined
      return sessions.start(stores, author, id, device)
    })
  }

  /** Returns whether all other ways to sign in as the person were dropped. */
  async #settleAddress(
    stores: OidcStores,
    change: AccessChange,
    account: OidcAccount,
    hasGained: boolean,
  ): Promise<boolean> {
    const { person } = change
    if (person.email_proved_at !== null) return false
    if (vouchesFor(account, person)) return proveAddress(stores, change, account)
    if (hasGained) await dropAccess(stores, change, account)
    return hasGained
  }

  async #personFor(
    stores: OidcStores,
    account: OidcAccount,
    intent: OidcIntent,
    requestId: string,
  ): Promise<Person> {
    const identity = await stores.identities.find(account.issuer, account.subject)
    const known = identity && (await stores.people.findById(identity.person_id))
    if (intent.kind === 'link')
      return this.#link(stores, account, intent.personId, known, requestId)
    if (intent.kind === 'invitation') {
      return this.#accept(stores, account, intent.code, known, requestId)
    }
    return known ?? this.#addOwner(stores, account, requestId)
  }

  /** Links the account to a person who is signed in. */
  async #link(
    stores: OidcStores,
    account: OidcAccount,
    personId: string,
    known: Person | undefined,
    requestId: string,
  ): Promise<Person> {
    if (known !== undefined && known.id !== personId) throw new OidcFault('oidc_linked_elsewhere')
    const person = known ?? (await stores.people.findById(personId))
    if (person === undefined) throw new OidcFault('oidc_session_ended')
    if (known === undefined) await this.#insertIdentity(stores, account, person, requestId)
    return person
  }

  /** Accepts an invitation: for the person of the account, or for a new one with the invited address. */
  async #accept(
    stores: OidcStores,
    account: OidcAccount,
    code: string,
    known: Person | undefined,
    requestId: string,
  ): Promise<Person> {
    const now = this.#deps.clock.nowMicros()
    const at = { nowMicros: now, isUse: false }
    const link = await findGranted(stores, 'invitation', hashCode(code), at)
    if (link === undefined) throw new OidcFault('oidc_invitation')
    const person = known ?? this.#newPerson(invitationOf(link).email, account.name, false)
    if (known === undefined) {
      if (!this.#deps.invitations.canCreateAccount(link) && !vouchesFor(account, person)) {
        throw new OidcFault('oidc_mailed_link')
      }
      // The person with this address signs in as usual, and then accepts.
      if (!(await stores.people.insert(person))) throw new OidcFault('oidc_address_taken')
      await stores.events.append(authorOf(person, requestId), personCreated(person), now)
      await this.#insertIdentity(stores, account, person, requestId)
    }
    const from = { requestId, kept: account }
    await this.#deps.invitations.join(stores, code, person, from).catch((error) => {
      const isRefused = error instanceof Failure && error.code === 'validation_failed'
      throw isRefused ? new OidcFault('oidc_invitation') : error
    })
    return person
  }

  /** Creates the first person, where the settings name them. */
  async #addOwner(stores: OidcStores, account: OidcAccount, requestId: string): Promise<Person> {
    const { ownerEmail } = this.#deps
    const unknown = new OidcFault('oidc_unknown')
    if (ownerEmail === undefined || account.email === undefined) throw unknown
    const isOwner = foldEmail(account.email) === foldEmail(ownerEmail) && account.isEmailVerified
    const email = parseEmail(account.email)
    if (!isOwner || 'fault' in email) throw unknown
    await stores.people.lockFirst()
    if (!(await stores.people.isEmpty())) throw unknown
    const person = this.#newPerson(email.value, account.name, true)
    await insertFirstPerson(stores, authorOf(person, requestId), person)
    await this.#insertIdentity(stores, account, person, requestId)
    return person
  }

  async #insertIdentity(
    stores: OidcStores,
    { issuer, subject }: OidcAccount,
    person: Person,
    requestId: string,
  ): Promise<void> {
    const now = this.#deps.clock.nowMicros()
    const identity = { issuer, subject, person_id: person.id, created_at: now }
    if (!(await stores.identities.insert(identity))) throw new OidcFault('oidc_linked_elsewhere')
    const event = { type: 'identity.created', subjectId: person.id, before: null } as const
    await stores.events.append(authorOf(person, requestId), { ...event, after: { issuer } }, now)
  }

  #newPerson(email: string, name: string | undefined, isOperator: boolean): Person {
    const { clock, random } = this.#deps
    const ownName = name === undefined || holdsWebAddress(name) ? undefined : name
    return {
      id: uuidV7(clock, random),
      email,
      email_folded: foldEmail(email),
      name: (ownName ?? email).slice(0, NAME_LENGTH_MAX).toWellFormed(),
      is_operator: isOperator,
      created_at: clock.nowMicros(),
      disabled_at: null,
      email_proved_at: null,
    }
  }
}

/** Whether the provider says that the person's address is that of the account. */
function vouchesFor({ email, isEmailVerified }: OidcAccount, { email_folded }: Person): boolean {
  return isEmailVerified && email !== undefined && foldEmail(email) === email_folded
}

function authorOf(person: Person, requestId: string): EventAuthor {
  return { ...personActor(person, undefined, true), requestId }
}

type OwnIdentityStores = OwnFactorStores & GroupRoleStores

/** What people change of their accounts with the provider of single sign-on. */
export class OwnIdentities {
  readonly #deps: {
    readonly store: Store<OwnIdentityStores>
    readonly clock: Clock
    readonly issuer: string | undefined
  }

  /** @param deps.issuer of the instance's provider; undefined without one */
  constructor(deps: {
    store: Store<OwnIdentityStores>
    clock: Clock
    issuer: string | undefined
  }) {
    this.#deps = deps
  }

  /**
   * Unlinks an account, and ends all other sessions, of which it may have begun some. With the last account go the
   * roles that its groups gave.
   *
   * @throws {Failure} `not_found`; `validation_failed` for the last way to sign in
   */
  async unlink(changer: Changer, id: string): Promise<void> {
    const { store, clock, issuer } = this.#deps
    const { id: personId } = changer.person
    await store.write((stores) =>
      changeFactors(stores, changer, clock.nowMicros(), async (_, now) => {
        const own = await stores.identities.list(personId)
        const identity = own.find((each) => identityIdOf(each) === id)
        if (identity === undefined) throw Failure.notFound('Identity')
        await stores.identities.remove(identity)
        await requireWayIn(stores, personId, 'identity', issuer)
        const rest = own.filter((each) => each !== identity && each.issuer === issuer)
        if (rest.length === 0) await endGroupRoles(stores, changer.person, now)
        const before = { issuer: identity.issuer }
        return { type: 'identity.deleted', subjectId: personId, before, after: null }
      }),
    )
  }
}
