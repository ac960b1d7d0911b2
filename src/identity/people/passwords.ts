import type { Fault } from '@terse/contract/faults'
import { Failure } from '../../platform/failure.ts'
import type { PasswordVault } from '../../platform/passwords/password-vault.ts'
import { type ChangeLog, sessionChange } from '../../storage/changes.ts'
import type { EventAuthor, EventWriter } from '../../storage/event-log.ts'
import {
  factorState,
  hasSecondFactor,
  type SecondFactorStores,
  type SecondFactors,
} from '../second-factors/second-factors.ts'
import type { PasswordStore, StoredPassword } from '../store/credential-store.ts'
import type { OneTimeLinkStore } from '../store/one-time-link-store.ts'
import type { SessionStore } from '../store/session-store.ts'
import type { Person } from './person.ts'

export type PasswordWriteStores = SecondFactorStores & {
  readonly passwords: PasswordStore
  readonly oneTimeLinks: OneTimeLinkStore
  readonly sessions: SessionStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** A hashed password, ready for the transaction that sets it. */
type PreparedPassword = Pick<StoredPassword, 'sealed_hash' | 'is_long'>

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

/** Without a second factor. */
export const PASSWORD_LENGTH_MIN_ALONE = 15
/** With a second factor. */
const LENGTH_MIN = 10
/** A text of fewer different characters is a pattern. */
const DIFFERENT_MIN = 5

/** The fault of a password that only a person with a second factor may have. */
const TOO_SHORT_ALONE: Fault = {
  code: 'weak_password',
  reason: 'short_alone',
  min: PASSWORD_LENGTH_MIN_ALONE,
  min_with_factor: LENGTH_MIN,
}

/** Whether a password is long enough for a person without a second factor. */
function isLong(password: string): boolean {
  return lengthOf(password) >= PASSWORD_LENGTH_MIN_ALONE
}

/**
 * Returns why a new password is refused; undefined where it is accepted. There are no rules about kinds of
 * characters: they make passwords hard to remember rather than hard to guess.
 */
async function faultOfPassword(
  password: string,
  whose: {
    readonly hasSecondFactor: boolean
    readonly email: string
    readonly name: string
  },
): Promise<Fault | undefined> {
  if (whose.hasSecondFactor && lengthOf(password) < LENGTH_MIN) {
    return { code: 'weak_password', reason: 'short', min: LENGTH_MIN }
  }
  if (!whose.hasSecondFactor && !isLong(password)) return TOO_SHORT_ALONE
  const folded = password.normalize('NFKC').toLowerCase()
  if ([whose.email, whose.name].some((text) => isMadeOf(folded, text.toLowerCase()))) {
    return { code: 'weak_password', reason: 'personal' }
  }
  if (new Set(folded).size < DIFFERENT_MIN) return { code: 'weak_password', reason: 'simple' }
  if (await isCommon(folded)) return { code: 'weak_password', reason: 'common' }
  return undefined
}

/** Characters as people count them: code points, not the units of UTF-16. */
function lengthOf(text: string): number {
  return [...text.normalize('NFC')].length
}

function isMadeOf(text: string, part: string): boolean {
  return part !== '' && text.replaceAll(part, '') === ''
}

/** Whether a text is a common password, or one repeated. The list is loaded at the first call. */
async function isCommon(folded: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const common = (text: string) => dictionary['passwords-common'].includes(text)
  if (common(folded)) return true
  for (let length = 1; length <= folded.length / 2; length += 1) {
    const part = folded.slice(0, length)
    if (folded.length % length === 0 && part.repeat(folded.length / length) === folded) {
      return common(part)
    }
  }
  return false
}
