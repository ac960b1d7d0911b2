import { randomUUID } from 'node:crypto'
import type { Fault } from '@terse/contract/faults'
import { isUuid } from '../../platform/crypto/random.ts'
import { Failure, type FieldFaults } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ChangeLog, sessionChange } from '../../storage/changes.ts'
import {
  changedFields,
  type EventAuthor,
  type EventWriter,
  INSTANCE,
} from '../../storage/event-log.ts'
import type { Store } from '../../storage/store.ts'
import type { Actor } from '../actor.ts'
import { type ActingStores, endLostGrants, type GrantStores, requireActor } from '../grants.ts'
import { type FactorState, factorState } from '../second-factors/second-factors.ts'
import { requireSession } from '../sign-in/sessions.ts'
import type { Identity, IdentityStore } from '../store/credential-store.ts'
import type { ErasureStore } from '../store/erasure-store.ts'
import type { NamedMembership } from '../store/membership-store.ts'
import type { Account, PersonChanges, PersonStore } from '../store/person-store.ts'
import { type AccessStores, changeEmail, dropUnproved } from './addresses.ts'
import type { PasswordWriteStores, PeoplePasswords } from './passwords.ts'
import { foldEmail, type Person, parseEmail, requirePersonName } from './person.ts'

type PeopleStores = PasswordWriteStores & {
  readonly people: PersonStore
  readonly identities: IdentityStore
}

/** How a person can sign in. */
type WaysIn = FactorState & {
  readonly hasPassword: boolean
  readonly identities: readonly Identity[]
}

/** What people change of their own accounts. */
export class People {
  readonly #store: Store<PeopleStores>
  readonly #clock: Clock
  readonly #passwords: PeoplePasswords

  constructor(deps: { store: Store<PeopleStores>; clock: Clock; passwords: PeoplePasswords }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#passwords = deps.passwords
  }

  /** How a person can sign in. */
  async waysIn({ id }: Person): Promise<WaysIn> {
    const { read } = this.#store
    const [password, factors, identities] = await Promise.all([
      read.passwords.find(id),
      factorState(read, id),
      read.identities.list(id),
    ])
    return { ...factors, identities, hasPassword: password !== undefined }
  }

  /**
   * @throws {Failure} `validation_failed` for a name that is a web address; `unauthorized` where the session has ended
   *   meanwhile
   */
  async rename(
    author: EventAuthor,
    person: Person,
    name: string,
    sessionId: string,
  ): Promise<Person> {
    const after = { ...person, name }
    const changed = changedFields({ name: person.name }, { name })
    if (Object.keys(changed.after).length === 0) return person
    requirePersonName(name, person.email)
    await this.#store.write(async (stores) => {
      await stores.people.lock(person.id)
      await requireSession(stores, person.id, sessionId)
      const now = this.#clock.nowMicros()
      await stores.people.update(person.id, { name })
      await stores.changes.append(sessionChange(person.id), now)
      const event = { type: 'person.updated', subjectId: person.id, ...changed } as const
      await stores.events.append(author, event, now)
    })
    return after
  }

  /**
   * Sets the password, and ends all other sessions.
   *
   * @throws {Failure} `validation_failed` for a password that the rules refuse; `unauthorized` where the session has ended
   *   meanwhile
   */
  async setPassword(
    author: EventAuthor,
    person: Person,
    text: string,
    keptSessionId: string,
  ): Promise<void> {
    const password = await this.#passwords.prepare(person, text)
    await this.#store.write(async (stores) => {
      await stores.people.lock(person.id)
      await requireSession(stores, person.id, keptSessionId)
      const now = this.#clock.nowMicros()
      await this.#passwords.set(stores, author, person.id, { password, keptSessionId, now })
    })
  }
}

type AccountStores = PersonDeletionStores & AccessStores

export type AccountChanges = {
  readonly isDisabled?: boolean | undefined
  readonly isOperator?: boolean | undefined
}

/** What operators of the instance do with people, in whatever workspaces these are. */
export class Accounts {
  readonly #store: Store<AccountStores>
  readonly #clock: Clock

  constructor(deps: { store: Store<AccountStores>; clock: Clock }) {
    this.#store = deps.store
    this.#clock = deps.clock
  }

  /** Returns everyone, by name. */
  list(): Promise<readonly Account[]> {
    return this.#store.read.people.list()
  }

  /** @throws {Failure} `not_found` */
  async get(id: string): Promise<Account> {
    const account = (await this.list()).find(({ person }) => person.id === id)
    if (account === undefined) throw Failure.notFound('Person')
    return account
  }

  /** @throws {Failure} `not_found` */
  async getByEmail(email: string): Promise<Person> {
    const person = await this.#store.read.people.findByEmail(foldEmail(email))
    if (person === undefined) throw Failure.notFound(`Person "${email}"`)
    return person
  }

  /**
   * Deletes a person, who is signed out everywhere at once.
   *
   * @throws {Failure} `not_found`; `validation_failed` for the last operator, and the last owner of a workspace
   */
  async delete(actor: Actor, id: string): Promise<void> {
    if (!isUuid(id)) throw Failure.notFound('Person')
    await this.#store.write(async (stores) => {
      await deletePerson(stores, actor, id, this.#clock.nowMicros())
    })
  }

  /**
   * Disabling ends all sessions of the person, and signing in fails until they are enabled. Who becomes an operator loses
   * what `dropUnproved` says.
   *
   * @throws {Failure} `not_found`; `validation_failed` where no operator would be left who can sign in
   */
  async change(actor: Actor, id: string, changes: AccountChanges): Promise<void> {
    if (!isUuid(id)) throw Failure.notFound('Person')
    await this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      const author = await requireActor(stores, actor, 'people.patch', {
        nowMicros: now,
        personId: id,
      })
      const person = await stores.people.findById(id)
      if (person === undefined) throw Failure.notFound('Person')
      const applied = appliedTo(person, changes, now)
      await stores.people.update(id, applied)
      if (person.is_operator && (await stores.people.countOperators()) === 0) {
        throw Failure.invalid(lastOperator(changes))
      }
      if (applied.disabled_at !== undefined && applied.disabled_at !== null) {
        await stores.sessions.deleteOthers(id, undefined)
      }
      if (applied.is_operator === true) await dropUnproved(stores, author, id, now)
      await stores.changes.append(sessionChange(id), now)
      await endLostGrants(stores, id, now)
      await noteChanges(stores.events, author, person, applied, now)
    })
  }

  /**
   * Gives a person another address, which is unproved then: an operator who runs commands vouches for it. All sessions end.
   *
   * @throws {Failure} `not_found`; `validation_failed` for what is no address, and for one that is taken
   */
  async changeEmail(actor: Actor, id: string, text: string): Promise<void> {
    const parsed = parseEmail(text)
    if ('fault' in parsed) throw Failure.invalid({ email: [parsed.fault] })
    await this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      const at = { nowMicros: now, personId: id }
      const author = await requireActor(stores, actor, 'people.patch', at)
      const person = await stores.people.findById(id)
      if (person === undefined) throw Failure.notFound('Person')
      const to = { email: parsed.value, provedAt: null, field: 'email', keptSessionId: undefined }
      await changeEmail(stores, { author, person, now }, to)
    })
  }
}

/** The columns that differ from what they were. */
function appliedTo(
  person: Person,
  { isDisabled, isOperator }: AccountChanges,
  now: number,
): PersonChanges {
  const wasDisabled = person.disabled_at !== null
  return {
    ...(isDisabled !== undefined &&
      isDisabled !== wasDisabled && { disabled_at: isDisabled ? now : null }),
    ...(isOperator !== undefined &&
      isOperator !== person.is_operator && { is_operator: isOperator }),
  }
}

async function noteChanges(
  events: EventWriter,
  author: EventAuthor,
  person: Person,
  { disabled_at, is_operator }: PersonChanges,
  now: number,
): Promise<void> {
  const subjectId = person.id
  if (disabled_at !== undefined) {
    const type = disabled_at === null ? 'person.enabled' : 'person.disabled'
    await events.append(author, { type, subjectId, before: {}, after: {} }, now)
  }
  if (is_operator !== undefined) {
    const fields = changedFields({ is_operator: person.is_operator }, { is_operator })
    await events.append(author, { type: 'person.updated', subjectId, ...fields }, now)
  }
}

function lastOperator({ isDisabled }: AccountChanges): FieldFaults {
  const fault: Fault = { code: 'last_operator', reason: 'change' }
  return { [isDisabled ? 'is_disabled' : 'is_operator']: [fault] }
}

/** The stores in which a person has rows. */
type PersonDeletionStores = GrantStores &
  ActingStores & {
    readonly erasures: Pick<ErasureStore, 'notePerson' | 'formerAddresses'>
    readonly changes: ChangeLog
  }

/**
 * Deletes a person with all sessions, factors and memberships, as the first step of a transaction. Tokens stay with
 * their workspaces. The event log is erased later.
 *
 * @throws {Failure} `not_found`; `validation_failed` for the last operator, and the last owner of a workspace; as
 *   `requireActor`
 */
async function deletePerson(
  stores: PersonDeletionStores,
  actor: Actor,
  id: string,
  now: number,
): Promise<void> {
  let owned: readonly NamedMembership[] = []
  const author = await requireActor(stores, actor, 'people.delete', {
    nowMicros: now,
    personId: id,
    async workspacesOf() {
      owned = (await stores.memberships.listOfPerson(id)).filter(({ role }) => role === 'owner')
      return owned.map(({ workspace_id }) => workspace_id)
    },
  })
  const person = await stores.people.findById(id)
  if (person === undefined) throw Failure.notFound('Person')
  const { email_folded } = person
  await stores.tokens.forgetCreator(id)
  await stores.oneTimeLinks.deleteOfAddress(email_folded)
  await stores.people.delete(id)
  await endLostGrants(stores, id, now)
  // Links that were used name the person too.
  await stores.oneTimeLinks.deleteMadeBy(id)
  const isLastOperator = person.is_operator && (await stores.people.countOperators()) === 0
  if (isLastOperator) throw refusal({ code: 'last_operator', reason: 'deletion' })
  for (const { workspace_id, workspace_name } of owned) {
    if ((await stores.memberships.countOwners(workspace_id)) > 0) continue
    throw refusal({ code: 'last_owner', reason: 'deletion', workspace: workspace_name })
  }
  await stores.erasures.notePerson({ id, email_folded, deleted_at: now })
  await forgetFormerAddresses(stores, id, now)
  await stores.changes.append(sessionChange(id), now)
  // The identifier of the person would keep the event from staying.
  const event = { type: 'person.deleted', subjectId: INSTANCE, before: null, after: null } as const
  await stores.events.append(author, event, now)
}

/** Invitations to an address that the person had before name the person too, unless another person has the address now. */
async function forgetFormerAddresses(
  stores: PersonDeletionStores,
  id: string,
  now: number,
): Promise<void> {
  const former = await stores.erasures.formerAddresses(id)
  for (const email_folded of new Set(former.map(foldEmail))) {
    if ((await stores.people.findByEmail(email_folded)) !== undefined) continue
    await stores.oneTimeLinks.deleteOfAddress(email_folded)
    await stores.erasures.notePerson({ id: randomUUID(), email_folded, deleted_at: now })
  }
}

function refusal(fault: Fault): Failure {
  return Failure.invalid({ id: [fault] })
}
