import type { Fault } from '@terse/contract/faults'
import { sessionChange } from '../../platform/changes/changes.ts'
import { isUuid } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import {
  changedFields,
  type EventAuthor,
  type EventWriter,
} from '../../platform/events/event-writer.ts'
import { Failure, type FieldFaults } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Actor } from '../actor.ts'
import { endLostGrants } from '../grants/grants.ts'
import { requireActor } from '../grants/require-actor.ts'
import { type AccessStores, dropUnproved } from './address-proof.ts'
import { deletePerson, type PersonDeletionStores } from './delete-person.ts'
import { foldEmail, parseEmail } from './email.ts'
import { changeEmail } from './email-changes.ts'
import type { Person } from './person.ts'
import type { Account, PersonChanges } from './store/person-store.ts'

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
