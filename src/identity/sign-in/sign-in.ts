import type { Fault } from '@terse/contract/faults'
import { Failure, type FieldFaults } from '../../platform/failure.ts'
import { AttemptLimits, type Charge } from '../../platform/limits/attempt-limits.ts'
import type { Throttle, Throttles } from '../../platform/limits/throttle.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { EventAuthor } from '../../storage/event-log.ts'
import type { Store } from '../../storage/store.ts'
import { personActor } from '../actor.ts'
import { endLapsedGroupRoles, type GroupRoleStores } from '../oidc/group-roles.ts'
import type { PeoplePasswords } from '../people/passwords.ts'
import { foldEmail, type Person } from '../people/person.ts'
import {
  factorFields,
  factorState,
  type GivenFactors,
  type ProvenFactor,
  type SecondFactorField,
  type SecondFactorStores,
  type SecondFactors,
} from '../second-factors/second-factors.ts'
import type { PersonStore } from '../store/person-store.ts'
import type { OpenedSession, Sessions, SessionWriteStores, SignedIn } from './sessions.ts'

type SignInStores = SessionWriteStores &
  SecondFactorStores &
  GroupRoleStores & { readonly people: PersonStore }

type Credentials = GivenFactors & {
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

type SignInDependencies = {
  readonly store: Store<SignInStores>
  readonly clock: Clock
  readonly passwords: PeoplePasswords
  readonly secondFactors: SecondFactors
  readonly sessions: Sessions
  readonly limits: SignInLimits
}

/** Signs people in, and has those who are signed in prove again who they are. */
export class SignIn {
  readonly #deps: SignInDependencies

  constructor(deps: SignInDependencies) {
    this.#deps = deps
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
    this.#deps.limits.check(account, origin.address)
    const found = await this.#deps.store.read.people.findForSignIn(account)
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
    return this.#deps.store.write(async (stores) => {
      await this.#confirm(stores, proof, author)
      return this.#deps.sessions.renew(stores, session)
    })
  }

  async #provePassword(person: Person, given: Credentials, origin: SignInOrigin): Promise<Proof> {
    requireFields({ password: given.password })
    this.#deps.limits.check(person.email_folded, origin.address)
    const found = await this.#deps.store.read.people.findForSignIn(person.email_folded)
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
      const isRight = await this.#deps.passwords.verify(
        sealed,
        given.password ?? '',
        `sign-in from ${address}`,
        () => {
          charge = this.#deps.limits.charge(account, address)
        },
      )
      isWrong = !isRight
      if (!isRight || found === undefined || sealed === undefined) throw wrong()
      const { person } = found
      const fields = await this.#deps.secondFactors.required(person.id)
      if (fields.length === 0) return { person, sealedPassword: sealed.sealed, factor: undefined }
      if (given.code === undefined && given.passkey === undefined) throw factorRequired(fields)
      const factor = await this.#deps.secondFactors.verify(person.id, given, cookie)
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
    const charge = this.#deps.limits.charge(`passkey from ${address}`, address)
    const wrong =
      expected === undefined
        ? Failure.unauthorized({ code: 'unknown_passkey' })
        : Failure.invalid({ passkey: [{ code: 'unknown_passkey' }] })
    const proved =
      passkey &&
      (await this.#deps.secondFactors.verifyPasskey(passkey, cookie).catch((error) => {
        charge.giveBack()
        throw error
      }))
    const person = proved && (await this.#deps.store.read.people.findById(proved.personId))
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
    return this.#deps.store.write(async (stores) => {
      await this.#confirm(stores, proof, author)
      // No other way in may keep alive what the provider no longer grants.
      await endLapsedGroupRoles(stores, person, this.#deps.clock.nowMicros())
      return this.#deps.sessions.start(stores, author, person.id, origin.device)
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
    const usedAt = this.#deps.clock.nowMicros()
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

const WINDOW_SECONDS = 15 * 60
const KEYS_MAX = 100_000
/** Wrong attempts of one address, at all accounts together. */
const PER_ADDRESS = 50

/** Wrong attempts at one account. */
const PER_ACCOUNT = {
  name: 'sign-in-failures',
  windowSeconds: WINDOW_SECONDS,
  perVisitor: 10,
  byKnownGuessers: 20,
  byOthers: 20,
  rememberedSeconds: 24 * 60 * 60,
}

/**
 * Bounds how many wrong passwords and codes are tried: from one address, at one account from one address, and
 * at one account. An account that does not exist has the same limits.
 */
export class SignInLimits {
  readonly #perAccount: AttemptLimits
  readonly #perAddress: Throttle

  constructor(throttles: Throttles) {
    this.#perAccount = new AttemptLimits(throttles, PER_ACCOUNT)
    this.#perAddress = throttles.create('sign-in-failures-of-address', {
      limit: PER_ADDRESS,
      windowSeconds: WINDOW_SECONDS,
      keysMax: KEYS_MAX,
    })
  }

  /**
   * @param account the folded e-mail address; the same for a person that does not exist
   * @param address as `subscriberOf`
   * @throws {Failure} `too_many_attempts` when an attempt would be refused now
   */
  check(account: string, address: string): void {
    const ofAddress = this.#perAddress.peek(address)
    if (!ofAddress.allowed) throw tooMany(ofAddress.resetSeconds)
    const refusal = this.#perAccount.refusal(account, `${account} ${address}`)
    if (refusal !== undefined) throw tooMany(refusal.waitSeconds)
  }

  /**
   * Counts an attempt as a failure until it is given back.
   *
   * @throws {Failure} `too_many_attempts`
   */
  charge(account: string, address: string): Charge {
    this.check(account, address)
    const charge = this.#perAccount.charge(account, `${account} ${address}`)
    if ('waitSeconds' in charge) throw tooMany(charge.waitSeconds)
    this.#perAddress.take(address)
    return {
      keep: charge.keep,
      giveBack: () => {
        charge.giveBack()
        this.#perAddress.refund(address)
      },
    }
  }
}

function tooMany(waitSeconds: number): Failure {
  return Failure.tooManyAttempts(
    `Too many attempts were wrong. Try again in ${waitSeconds} seconds.`,
    waitSeconds,
  )
}
