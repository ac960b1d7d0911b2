import type { FastifyRequest } from 'fastify'
import type { Random } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ChangeLog, sessionChange } from '../../storage/changes.ts'
import type { EventAuthor, EventWriter, NewEvent } from '../../storage/event-log.ts'
import type { Store } from '../../storage/store.ts'
import { actorOf, signedInOf } from '../authentication.ts'
import { PASSWORD_LENGTH_MIN_ALONE } from '../people/passwords.ts'
import type { Person } from '../people/person.ts'
import { requireSession } from '../sign-in/sessions.ts'
import type { IdentityStore, PasskeyStore, PasswordStore } from '../store/credential-store.ts'
import type { PersonStore } from '../store/person-store.ts'
import type { SessionStore } from '../store/session-store.ts'
import {
  type CodeLimits,
  generateRecoveryCodes,
  hashRecoveryCode,
  type TotpSecrets,
  type TotpSetup,
} from './factor-checks.ts'
import { factorState, hasSecondFactor, type SecondFactorStores } from './second-factors.ts'

export type OwnFactorStores = SecondFactorStores & {
  readonly people: PersonStore
  readonly passwords: PasswordStore
  readonly identities: IdentityStore
  readonly sessions: SessionStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** Who changes their second factors, in which session: all others end. */
export type Changer = {
  readonly author: EventAuthor
  readonly person: Person
  readonly sessionId: string
}

/** What people change of their authenticator app and recovery codes. Each change ends all other sessions. */
export class OwnFactors {
  readonly #deps: {
    readonly store: Store<OwnFactorStores>
    readonly clock: Clock
    readonly random: Random
    readonly secrets: TotpSecrets
    readonly recoveryKey: Buffer
    readonly limits: CodeLimits
  }

  /** @param deps.recoveryKey 32 bytes, used for the hashes of recovery codes only */
  constructor(deps: {
    store: Store<OwnFactorStores>
    clock: Clock
    random: Random
    secrets: TotpSecrets
    recoveryKey: Buffer
    limits: CodeLimits
  }) {
    this.#deps = deps
  }

  /**
   * Makes a secret, which `confirmTotp` puts into force. An app that is set up works until then.
   *
   * @throws {Failure} `unauthorized` where the session has ended meanwhile
   */
  async startTotp({ person, sessionId }: Changer): Promise<TotpSetup> {
    const { store, secrets } = this.#deps
    const setup = await secrets.create(person.id, person.email)
    await store.write(async (stores) => {
      await stores.people.lock(person.id)
      await requireSession(stores, person.id, sessionId)
      await stores.totp.setPending(person.id, setup.sealedSecret)
    })
    return setup
  }

  /**
   * @throws {Failure} `validation_failed` for a wrong code, and without a secret to confirm; `too_many_attempts`
   *   after too many wrong codes
   */
  async confirmTotp(changer: Changer, code: string): Promise<void> {
    const { store, clock, secrets, limits } = this.#deps
    const { id } = changer.person
    const totp = await store.read.totp.find(id)
    const sealedSecret = totp?.pending_secret ?? undefined
    if (sealedSecret === undefined) {
      throw Failure.invalid({ code: [{ code: 'nothing_to_confirm' }] })
    }
    const digits = code.replaceAll(' ', '')
    const step = await limits.run(id, () =>
      secrets.stepOf(id, sealedSecret, digits, clock.nowMicros()),
    )
    const wrong = Failure.invalid({ code: [{ code: 'wrong', reason: 'clock' }] })
    if (step === undefined) throw wrong
    await this.#change(changer, async (stores, now) => {
      const confirmed = { sealedSecret, step, atMicros: now }
      if (!(await stores.totp.confirm(id, confirmed))) throw wrong
      return { type: 'totp.created', subjectId: id, before: null, after: {} }
    })
  }

  /** @throws {Failure} `not_found`; `validation_failed` where it is needed beside a short password */
  async removeTotp(changer: Changer): Promise<void> {
    const { id } = changer.person
    await this.#change(changer, async (stores) => {
      if (!(await stores.totp.remove(id))) throw Failure.notFound('Authenticator app')
      await settleAfterRemoval(stores, id)
      return { type: 'totp.deleted', subjectId: id, before: {}, after: null }
    })
  }

  /**
   * Returns new recovery codes; all earlier ones stop working.
   *
   * @throws {Failure} `validation_failed` without a second factor, which they stand in for
   */
  async replaceRecoveryCodes(changer: Changer): Promise<readonly string[]> {
    const { random, recoveryKey } = this.#deps
    const { id } = changer.person
    const codes = generateRecoveryCodes(random)
    await this.#change(changer, async (stores) => {
      if (!hasSecondFactor(await factorState(stores, id))) {
        throw Failure.invalid({
          codes: [{ code: 'second_factor_needed', reason: 'codes' }],
        })
      }
      const hashes = codes.map((code) => hashRecoveryCode(recoveryKey, id, code))
      await stores.recoveryCodes.replace(id, hashes)
      const after = { codes: codes.length }
      return { type: 'recovery_codes.created', subjectId: id, before: null, after }
    })
    return codes
  }

  #change(
    changer: Changer,
    work: (stores: OwnFactorStores, now: number) => Promise<NewEvent>,
  ): Promise<void> {
    const { store, clock } = this.#deps
    return store.write((stores) => changeFactors(stores, changer, clock.nowMicros(), work))
  }
}

/**
 * Changes with what a person signs in, within a transaction: with an event, and ending all other sessions.
 *
 * @throws {Failure} `unauthorized` where the session has ended meanwhile
 */
export async function changeFactors(
  stores: OwnFactorStores,
  { author, person, sessionId }: Changer,
  now: number,
  work: (stores: OwnFactorStores, now: number) => Promise<NewEvent>,
): Promise<void> {
  // Before anything is read: two changes at once must see each other.
  await stores.people.lock(person.id)
  await requireSession(stores, person.id, sessionId)
  const event = await work(stores, now)
  await stores.sessions.deleteOthers(person.id, sessionId)
  await stores.changes.append(sessionChange(person.id), now)
  await stores.events.append(author, event, now)
}

/**
 * Call within a transaction that has removed a second factor and locked the person.
 *
 * @throws {Failure} `validation_failed` when none is left beside a short password
 */
export async function settleAfterRemoval(stores: OwnFactorStores, personId: string): Promise<void> {
  if (hasSecondFactor(await factorState(stores, personId))) return
  const password = await stores.passwords.find(personId)
  if (password?.is_long === false) {
    throw Failure.invalid({
      password: [
        { code: 'second_factor_needed', reason: 'password', min: PASSWORD_LENGTH_MIN_ALONE },
      ],
    })
  }
  await stores.recoveryCodes.replace(personId, [])
}

type WayInStores = {
  readonly passwords: PasswordStore
  readonly passkeys: PasskeyStore
  readonly identities: IdentityStore
}

/**
 * Call within a transaction that has removed a passkey or an identity, and locked the person.
 *
 * @param field of the request, for the fault
 * @param issuer of the instance's provider, whose identities alone count; undefined without one
 * @throws {Failure} `validation_failed` where the person could no longer sign in
 */
export async function requireWayIn(
  { passwords, passkeys, identities }: WayInStores,
  personId: string,
  field: string,
  issuer: string | undefined,
): Promise<void> {
  if ((await passwords.find(personId)) !== undefined) return
  if ((await passkeys.list(personId)).length > 0) return
  if ((await identities.list(personId)).some((identity) => identity.issuer === issuer)) return
  throw Failure.invalid({ [field]: [{ code: 'last_way_in' }] })
}

/** The person of a request who changes their own second factors. */
export function changerOf(request: FastifyRequest): Changer {
  const { person, session } = signedInOf(request)
  return { author: actorOf(request), person, sessionId: session.id }
}
