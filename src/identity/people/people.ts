import { sessionChange } from '../../platform/changes/changes.ts'
import type { Store } from '../../platform/database/store.ts'
import { changedFields, type EventAuthor } from '../../platform/events/event-writer.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Identity, IdentityStore } from '../oidc/store/identity-store.ts'
import { type FactorState, factorState } from '../second-factors/factor-state.ts'
import { requireSession } from '../sessions/sessions.ts'
import type { PasswordWriteStores, PeoplePasswords } from './people-passwords.ts'
import type { Person } from './person.ts'
import { requirePersonName } from './person-name.ts'
import type { PersonStore } from './store/person-store.ts'

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
