import type { Fault } from '@terse/contract/faults'
import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { changedFields } from '../../storage/event-log.ts'
import { type Store, UniqueViolation } from '../../storage/store.ts'
import type { Person } from '../people/person.ts'
import { requireSession } from '../sign-in/sessions.ts'
import type { Passkey } from '../store/credential-store.ts'
import {
  type Changer,
  changeFactors,
  type OwnFactorStores,
  requireWayIn,
  settleAfterRemoval,
} from './own-factors.ts'
import type {
  CeremonyOptions,
  ChallengePurpose,
  PasskeyCeremonies,
  PasskeyChallenges,
  RegistrationInput,
} from './passkey-ceremonies.ts'

/** The most passkeys of one person. */
const PASSKEYS_MAX = 50

/** What a browser needs for a ceremony, and the cookie that it must send back. */
export type PasskeyOptions = {
  readonly publicKey: CeremonyOptions
  readonly setCookie: string
}

/** What people change of their passkeys. Adding and removing one ends all other sessions. */
export class OwnPasskeys {
  readonly #deps: {
    readonly store: Store<OwnFactorStores>
    readonly clock: Clock
    readonly random: Random
    readonly challenges: PasskeyChallenges
    readonly ceremonies: PasskeyCeremonies
    readonly issuer: string | undefined
  }

  /** @param deps.issuer of the instance's provider of single sign-on; undefined without one */
  constructor(deps: {
    store: Store<OwnFactorStores>
    clock: Clock
    random: Random
    challenges: PasskeyChallenges
    ceremonies: PasskeyCeremonies
    issuer: string | undefined
  }) {
    this.#deps = deps
  }

  list(person: Person): Promise<readonly Passkey[]> {
    return this.#deps.store.read.passkeys.list(person.id)
  }

  /**
   * For a browser that proves a passkey of any person.
   *
   * @throws {Failure} `validation_failed` where the base URL has an IP address
   */
  async requestOptions(): Promise<PasskeyOptions> {
    const { challenges, ceremonies } = this.#deps
    requireName(ceremonies)
    const { bytes, setCookie } = challenges.issue('authenticate')
    return { publicKey: await ceremonies.requestOptions(bytes), setCookie }
  }

  /** For a browser that is to make a passkey. Throws as `requestOptions`. */
  async creationOptions(person: Person): Promise<PasskeyOptions> {
    const { challenges, ceremonies } = this.#deps
    requireName(ceremonies)
    const { bytes, setCookie } = challenges.issue(purposeOf(person))
    const existing = await this.list(person)
    return { publicKey: await ceremonies.creationOptions(person, bytes, existing), setCookie }
  }

  /** @throws {Failure} `validation_failed` where the passkey does not answer this browser's challenge */
  async add(
    changer: Changer,
    input: { readonly name: string; readonly registration: RegistrationInput },
    cookies: string | undefined,
  ): Promise<Passkey> {
    const { store, clock, random, challenges, ceremonies } = this.#deps
    const { person } = changer
    const refused = (fault: Fault) => Failure.invalid({ registration: [fault] })
    const wrong = refused({ code: 'outdated_options' })
    const challenge = challenges.read(cookies, purposeOf(person))
    if (challenge === undefined) throw wrong
    const credential = await ceremonies.verifyCreation(input.registration, challenge)
    if (credential === undefined) throw wrong
    const passkey: Passkey = {
      ...credential,
      id: uuidV7(clock, random),
      person_id: person.id,
      name: input.name,
      created_at: clock.nowMicros(),
      last_used_at: null,
      needs_password: false,
    }
    try {
      await store.write((stores) =>
        changeFactors(stores, changer, passkey.created_at, async () => {
          if (!(await challenge.redeem(stores))) throw wrong
          if ((await stores.passkeys.list(person.id)).length >= PASSKEYS_MAX) {
            throw refused({ code: 'limit_reached', reason: 'passkeys', max: PASSKEYS_MAX })
          }
          await stores.passkeys.insert(passkey)
          const { id: subjectId, name } = passkey
          return { type: 'passkey.created', subjectId, before: null, after: { name } }
        }),
      )
    } catch (error) {
      if (error instanceof UniqueViolation) throw refused({ code: 'taken', reason: 'passkey' })
      throw error
    }
    return passkey
  }

  /** @throws {Failure} `not_found`; `unauthorized` where the session has ended meanwhile */
  async rename({ author, person, sessionId }: Changer, id: string, name: string): Promise<Passkey> {
    const { store, clock } = this.#deps
    if (!isUuid(id)) throw Failure.notFound('Passkey')
    return store.write(async (stores) => {
      await stores.people.lock(person.id)
      await requireSession(stores, person.id, sessionId)
      const before = await stores.passkeys.rename(person.id, id, name)
      if (before === undefined) throw Failure.notFound('Passkey')
      const changed = changedFields({ name: before.name }, { name })
      if (before.name !== name) {
        const event = { type: 'passkey.updated', subjectId: id, ...changed } as const
        await stores.events.append(author, event, clock.nowMicros())
      }
      return { ...before, name }
    })
  }

  /**
   * @throws {Failure} `not_found`; `validation_failed` where it is needed beside a short password, and for the
   *   last way to sign in
   */
  async remove(changer: Changer, id: string): Promise<void> {
    const { store, clock } = this.#deps
    if (!isUuid(id)) throw Failure.notFound('Passkey')
    await store.write((stores) =>
      changeFactors(stores, changer, clock.nowMicros(), async () => {
        const removed = await stores.passkeys.remove(changer.person.id, id)
        if (removed === undefined) throw Failure.notFound('Passkey')
        await settleAfterRemoval(stores, changer.person.id)
        await requireWayIn(stores, changer.person.id, 'passkey', this.#deps.issuer)
        const before = { name: removed.name }
        return { type: 'passkey.deleted', subjectId: id, before, after: null }
      }),
    )
  }
}

function requireName({ isPossible }: PasskeyCeremonies): void {
  if (isPossible) return
  throw Failure.invalid({ passkey: [{ code: 'passkeys_need_name' }] })
}

function purposeOf({ id }: Person): ChallengePurpose {
  return `add to ${id}`
}
