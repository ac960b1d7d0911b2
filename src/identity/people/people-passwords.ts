import { type ChangeLog, sessionChange } from '../../platform/changes/changes.ts'
import type { EventAuthor, EventWriter } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { PasswordVault } from '../../platform/passwords/password-vault.ts'
import type { OneTimeLinkStore } from '../one-time-links/store/one-time-link-store.ts'
import { factorState, hasSecondFactor } from '../second-factors/factor-state.ts'
import type { SecondFactorStores, SecondFactors } from '../second-factors/second-factors.ts'
import type { SessionStore } from '../sessions/store/session-store.ts'
import { faultOfPassword, isLong, TOO_SHORT_ALONE } from './password-rules.ts'
import type { Person } from './person.ts'
import type { PasswordStore, StoredPassword } from './store/password-store.ts'

export type PasswordWriteStores = SecondFactorStores & {
  readonly passwords: PasswordStore
  readonly oneTimeLinks: OneTimeLinkStore
  readonly sessions: SessionStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** A hashed password, ready for the transaction that sets it. */
export type PreparedPassword = Pick<StoredPassword, 'sealed_hash' | 'is_long'>

/** The passwords of people. */
export class PeoplePasswords {
  readonly #vault: PasswordVault
  readonly #secondFactors: SecondFactors

  constructor(deps: { vault: PasswordVault; secondFactors: SecondFactors }) {
    this.#vault = deps.vault
    this.#secondFactors = deps.secondFactors
  }

  /**
   * Checks a new password against the rules and hashes it, which is slow: call it before the transaction.
   *
   * @throws {Failure} `validation_failed`
   * @throws {QueueRefusal} when too many passwords are being hashed
   */
  async prepare(
    person: Pick<Person, 'id' | 'email' | 'name'>,
    password: string,
  ): Promise<PreparedPassword> {
    const hasSecondFactor = (await this.#secondFactors.required(person.id)).length > 0
    const fault = await faultOfPassword(password, { ...person, hasSecondFactor })
    if (fault !== undefined) throw Failure.invalid({ password: [fault] })
    const use = { boundTo: boundToPerson(person.id), owner: `person ${person.id}` }
    return { sealed_hash: await this.#vault.seal(password, use), is_long: isLong(password) }
  }

  /**
   * Sets a prepared password in the transaction, and ends the person's sessions but one and all links for another password.
   *
   * @param keptSessionId undefined to end all
   * @throws {Failure} `validation_failed` when a second factor that it needs was removed meanwhile
   */
  async set(
    stores: PasswordWriteStores,
    author: EventAuthor,
    personId: string,
    {
      password,
      keptSessionId,
      now,
    }: { password: PreparedPassword; keptSessionId: string | undefined; now: number },
  ): Promise<void> {
    if (!password.is_long && !hasSecondFactor(await factorState(stores, personId))) {
      throw Failure.invalid({ password: [TOO_SHORT_ALONE] })
    }
    await stores.passwords.set(personId, { ...password, changed_at: now })
    await stores.oneTimeLinks.deleteResetsOf(personId)
    await stores.sessions.deleteOthers(personId, keptSessionId)
    await stores.changes.append(sessionChange(personId), now)
    const fields = { password: 'changed' }
    const event = {
      type: 'password.changed',
      subjectId: personId,
      before: {},
      after: fields,
    } as const
    await stores.events.append(author, event, now)
  }

  /**
   * Whether the text is the person's password. Costs one hash, whether there is a person and a password or
   * not, so that the time does not say.
   *
   * @param owner whose share of the hashing it takes
   * @param onTurn as in `PasswordVault.verify`
   */
  async verify(
    of: { readonly personId: string; readonly sealed: string } | undefined,
    text: string,
    owner: string,
    onTurn: () => void,
  ): Promise<boolean> {
    if (of !== undefined) {
      const use = { boundTo: boundToPerson(of.personId), owner, onTurn }
      return this.#vault.verify(of.sealed, text, use)
    }
    await this.#vault.hashNothing(text, { owner, onTurn })
    return false
  }
}

/** Binds a sealed password to its person, whatever becomes of the e-mail address. */
function boundToPerson(personId: string): string {
  return `person ${personId}`
}
