import type { Fault } from '@terse/contract/faults'
import type { Store } from '../../platform/database/store.ts'
import type { EventAuthor } from '../../platform/events/event-writer.ts'
import { Failure, type FieldFaults } from '../../platform/failure.ts'
import type { Charge } from '../../platform/limits/attempt-limits.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { personActor } from '../actor.ts'
import { endLapsedGroupRoles, type GroupRoleStores } from '../oidc/group-roles.ts'
import { foldEmail } from '../people/email.ts'
import type { PeoplePasswords } from '../people/people-passwords.ts'
import type { Person } from '../people/person.ts'
import type { PersonStore } from '../people/store/person-store.ts'
import { factorFields, factorState } from '../second-factors/factor-state.ts'
import type {
  GivenFactors,
  ProvenFactor,
  SecondFactorField,
  SecondFactorStores,
  SecondFactors,
} from '../second-factors/second-factors.ts'
import type { SignedIn } from '../sessions/session-cache.ts'
import type { OpenedSession, Sessions, SessionWriteStores } from '../sessions/sessions.ts'
import type { SignInLimits } from './sign-in-limits.ts'

type SignInStores = SessionWriteStores &
  SecondFactorStores &
  GroupRoleStores & { readonly people: PersonStore }

export type Credentials = GivenFactors & {
  readonly email?: string | undefined
  readonly password?: string | undefined
}

/** From where a person signs in. */
export type SignInOrigin = {
  /** As `subscriberOf`. Kept nowhere but in the limits. */
  readonly address: string
  readonly device: string
  /** The request's `Cookie` header. */
  readonly cookie: string | undefined
  readonly requestId: string
}

/** A person who has proved who they are, as it was when it was checked. */
type Proof = {
  readonly person: Person
  /** The sealed password that was compared; undefined where a passkey alone was sent. */
  readonly sealedPassword: string | undefined
  readonly factor: ProvenFactor | undefined
}

type Account = { readonly person: Person; readonly sealedPassword: string | null }

/** The same for wrong passwords and for people who do not exist. */
export function wrongSignIn(): Failure {
  return Failure.unauthorized({ code: 'wrong_credentials' })
}

const REQUIRED: Fault = { code: 'required' }

/** For a person who is signed in the answer is not 401, with which clients send people to the sign-in. */
const WRONG_AGAIN: FieldFaults = { password: [{ code: 'wrong', reason: 'password' }] }

/** Signs people in, and has those who are signed in prove again who they are. */
export class SignIn {
  readonly #store: Store<SignInStores>
  readonly #clock: Clock
  readonly #passwords: PeoplePasswords
  readonly #secondFactors: SecondFactors
  readonly #sessions: Sessions
  readonly #limits: SignInLimits

  constructor(deps: {
    store: Store<SignInStores>
    clock: Clock
    passwords: PeoplePasswords
    secondFactors: SecondFactors
    sessions: Sessions
    limits: SignInLimits
  }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#passwords = deps.passwords
    this.#secondFactors = deps.secondFactors
    this.#sessions = deps.sessions
    this.#limits = deps.limits
  }

  /**
   * @throws {Failure} `unauthorized`, the same for wrong passwords and for people who do not exist;
   *   `second_factor_required`; `too_many_attempts`; `validation_failed`
   * @throws {QueueRefusal} when too many passwords are being hashed
   */
  async signIn(given: Credentials, origin: SignInOrigin): Promise<OpenedSession> {
    const { email, password, passkey } = given
    if (email === undefined && password === undefined && passkey !== undefined) {
      return this.#start(await this.#provePasskey(given, undefined, origin), origin)
    }
    requireFields({ email, password })
    const account = foldEmail(email ?? '')
    this.#limits.check(account, origin.address)
    const found = await this.#store.read.people.findForSignIn(account)
    return this.#start(await this.#prove(account, found, given, origin, wrongSignIn), origin)
  }

  /** Renews the session of a person who proves again who they are. Throws as `signIn`. */
  async authenticate(
    { person, session }: SignedIn,
    given: Omit<Credentials, 'email'>,
    origin: SignInOrigin,
  ): Promise<OpenedSession> {
    const proof =
      given.password === undefined && given.passkey !== undefined
        ? await this.#provePasskey(given, person, origin)
        : await this.#provePassword(person, given, origin)
    const author = authorOf(person, origin)
    return this.#store.write(async (stores) => {
      await this.#confirm(stores, proof, author)
      return this.#sessions.renew(stores, session)
    })
  }

  async #provePassword(person: Person, given: Credentials, origin: SignInOrigin): Promise<Proof> {
    requireFields({ password: given.password })
    this.#limits.check(person.email_folded, origin.address)
    const found = await this.#store.read.people.findForSignIn(person.email_folded)
    const wrong = () => Failure.invalid(WRONG_AGAIN)
    return this.#prove(person.email_folded, found, given, origin, wrong)
  }

  async #prove(
    account: string,
    found: Account | undefined,
    given: Credentials,
    { address, cookie }: SignInOrigin,
    wrong: () => Failure,
  ): Promise<Proof> {
    let charge: Charge | undefined
    let isWrong = false
    try {
      const sealed = sealedOf(found)
      const isRight = await this.#passwords.verify(
        sealed,
        given.password ?? '',
        `sign-in from ${address}`,
        () => {
          charge = this.#limits.charge(account, address)
        },
      )
      isWrong = !isRight
      if (!isRight || found === undefined || sealed === undefined) throw wrong()
      const { person } = found
      const fields = await this.#secondFactors.required(person.id)
      if (fields.length === 0) return { person, sealedPassword: sealed.sealed, factor: undefined }
      if (given.code === undefined && given.passkey === undefined) throw factorRequired(fields)
      const factor = await this.#secondFactors.verify(person.id, given, cookie)
      isWrong = factor === undefined
      if (factor === undefined) throw factorWrong(given)
      return { person, sealedPassword: sealed.sealed, factor }
    } finally {
      if (isWrong) charge?.keep()
      else charge?.giveBack()
    }
  }

  /** @param expected whose passkey it must be; undefined for anybody's */
  async #provePasskey(
    { passkey }: Credentials,
    expected: Person | undefined,
    { address, cookie }: SignInOrigin,
  ): Promise<Proof> {
    // Limits of an address: a passkey does not say before it is checked whose it is.
    const charge = this.#limits.charge(`passkey from ${address}`, address)
    const wrong =
      expected === undefined
        ? Failure.unauthorized({ code: 'unknown_passkey' })
        : Failure.invalid({ passkey: [{ code: 'unknown_passkey' }] })
    const proved =
      passkey &&
      (await this.#secondFactors.verifyPasskey(passkey, cookie).catch((error) => {
        charge.giveBack()
        throw error
      }))
    const person = proved && (await this.#store.read.people.findById(proved.personId))
    if (proved === undefined || person === undefined || isForeign(person, expected)) {
      charge.keep()
      throw wrong
    }
    charge.giveBack()
    return { person, sealedPassword: undefined, factor: proved.factor }
  }

  #start(proof: Proof, origin: SignInOrigin): Promise<OpenedSession> {
    const { person } = proof
    const author = authorOf(person, origin)
    return this.#store.write(async (stores) => {
      await this.#confirm(stores, proof, author)
      // No other way in may keep alive what the provider no longer grants.
      await endLapsedGroupRoles(stores, person, this.#clock.nowMicros())
      return this.#sessions.start(stores, author, person.id, origin.device)
    })
  }

  /** Checks within the transaction that nothing of the proof has changed, and uses up its second factor. */
  async #confirm(
    stores: SignInStores,
    { person, sealedPassword, factor }: Proof,
    author: EventAuthor,
  ): Promise<void> {
    // Together with a change of the password that runs at the same time, either this sign-in fails, or its
    // session is among those that the change ends.
    await stores.people.lock(person.id)
    const now = await stores.people.findForSignIn(person.email_folded)
    if (now === undefined || now.person.id !== person.id || now.person.disabled_at !== null) {
      throw wrongSignIn()
    }
    if (sealedPassword !== undefined && now.sealedPassword !== sealedPassword) {
      throw wrongSignIn()
    }
    if (factor === undefined) {
      const fields = factorFields(await factorState(stores, person.id))
      if (fields.length > 0) throw factorRequired(fields)
    }
    if (factor === undefined) return
    const usedAt = this.#clock.nowMicros()
    if (!(await factor.use(stores, usedAt))) throw factorWrong({})
    if (factor.eventType === undefined) return
    const event = { type: factor.eventType, subjectId: person.id, before: null, after: {} }
    await stores.events.append(author, event, usedAt)
  }
}

function authorOf(person: Person, { requestId }: SignInOrigin): EventAuthor {
  return { ...personActor(person, undefined, true), requestId }
}

/** Returns the sealed password of a person who may sign in with it. */
function sealedOf(found: Account | undefined) {
  if (found === undefined || found.sealedPassword === null) return undefined
  if (found.person.disabled_at !== null) return undefined
  return { personId: found.person.id, sealed: found.sealedPassword }
}

function isForeign(person: Person, expected: Person | undefined): boolean {
  return person.disabled_at !== null || (expected !== undefined && expected.id !== person.id)
}

/** @throws {Failure} `validation_failed` for fields that are missing */
function requireFields(fields: Readonly<Record<string, string | undefined>>): void {
  const missing = Object.entries(fields).filter(([, value]) => value === undefined)
  if (missing.length === 0) return
  throw Failure.invalid(Object.fromEntries(missing.map(([name]) => [name, [REQUIRED]])))
}

function factorRequired(fields: readonly SecondFactorField[]): Failure {
  const faults: FieldFaults = Object.fromEntries(fields.map((field) => [field, [REQUIRED]]))
  const message = `Send the same request with a second factor: ${fields.join(' or ')}.`
  return Failure.secondFactorRequired(message, faults)
}

function factorWrong({ passkey }: GivenFactors): Failure {
  const field: SecondFactorField = passkey === undefined ? 'code' : 'passkey'
  const faults: FieldFaults = { [field]: [{ code: 'wrong', reason: 'used' }] }
  return Failure.secondFactorRequired(`The ${field} is wrong, or was used before.`, faults)
}
