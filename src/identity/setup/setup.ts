import { type Random, uuidV7 } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { personActor } from '../actor.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import { hashCode } from '../one-time-links/one-time-code.ts'
import type { OneTimeLinkStore } from '../one-time-links/store/one-time-link-store.ts'
import { foldEmail, parseEmail } from '../people/email.ts'
import type { PeoplePasswords } from '../people/people-passwords.ts'
import type { Person } from '../people/person.ts'
import { requirePersonName } from '../people/person-name.ts'
import type { PasswordStore } from '../people/store/password-store.ts'
import type { PersonStore } from '../people/store/person-store.ts'
import type { OpenedSession, Sessions, SessionWriteStores } from '../sessions/sessions.ts'
import { insertFirstPerson } from './first-person.ts'
import { setUpAlready } from './setup-links.ts'

type SetupStores = SessionWriteStores & {
  readonly people: PersonStore
  readonly passwords: PasswordStore
  readonly memberships: MembershipStore
  readonly oneTimeLinks: OneTimeLinkStore
}

type SetupInput = {
  readonly code: string
  readonly email: string
  readonly name: string
  readonly password: string
}

/** Sets up the first person of the instance. */
export class Setup {
  readonly #store: Store<SetupStores>
  readonly #clock: Clock
  readonly #random: Random
  readonly #passwords: PeoplePasswords
  readonly #sessions: Sessions

  constructor(deps: {
    store: Store<SetupStores>
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
   * Creates the person as operator of the instance and owner of every workspace without one, and signs in.
   *
   * @throws {Failure} `validation_failed`, also for a code that is not open and once there is a person
   */
  async complete(
    input: SetupInput,
    { device, requestId }: { device: string; requestId: string },
  ): Promise<OpenedSession> {
    const email = parseEmail(input.email)
    if ('fault' in email) throw Failure.invalid({ email: [email.fault] })
    const now = this.#clock.nowMicros()
    const person: Person = {
      id: uuidV7(this.#clock, this.#random),
      email: email.value,
      email_folded: foldEmail(email.value),
      name: requirePersonName(input.name, email.value),
      is_operator: true,
      created_at: now,
      disabled_at: null,
      email_proved_at: null,
    }
    const hash = hashCode(input.code)
    await this.#requireOpen(this.#store.read, hash)
    const password = await this.#passwords.prepare(person, input.password)
    const author = { ...personActor(person, undefined, true), requestId }
    return this.#store.write(async (stores) => {
      await stores.people.lockFirst()
      await this.#requireOpen(stores, hash)
      await stores.oneTimeLinks.use('setup', hash, now)
      await insertFirstPerson(stores, author, person)
      await stores.passwords.set(person.id, { ...password, changed_at: now })
      return this.#sessions.start(stores, author, person.id, device)
    })
  }

  /** @throws {Failure} `validation_failed` when the code is not open, or there is a person */
  async #requireOpen(
    { people, oneTimeLinks }: Pick<SetupStores, 'people' | 'oneTimeLinks'>,
    hash: string,
  ): Promise<void> {
    if (!(await people.isEmpty())) throw setUpAlready()
    const link = await oneTimeLinks.findOpen('setup', hash, this.#clock.nowMicros())
    if (link !== undefined) return
    throw Failure.invalid({ code: [{ code: 'invalid_code', reason: 'setup' }] })
  }
}
