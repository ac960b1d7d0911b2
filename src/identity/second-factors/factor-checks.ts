import type { PasskeyAssertionInput } from '@terse/contract/passkeys'
import type { Store } from '../../platform/database/store.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { CodeLimits } from './code-limits.ts'
import { factorFields, factorState } from './factor-state.ts'
import type { PasskeyCeremonies } from './passkey-ceremonies.ts'
import type { PasskeyChallenges } from './passkey-challenges.ts'
import { hashRecoveryCode } from './recovery-code.ts'
import type {
  GivenFactors,
  ProvenFactor,
  SecondFactorField,
  SecondFactorStores,
  SecondFactors,
} from './second-factors.ts'
import type { Passkey } from './store/passkey-store.ts'
import type { TotpSecrets } from './totp.ts'

type Dependencies = {
  readonly store: Store<SecondFactorStores>
  readonly clock: Clock
  readonly secrets: TotpSecrets
  /** 32 bytes, used for the hashes of recovery codes only. */
  readonly recoveryKey: Buffer
  readonly challenges: PasskeyChallenges
  readonly ceremonies: PasskeyCeremonies
  readonly limits: CodeLimits
}

/** Checks second factors at sign-in and step-up, with what is stored of them. */
export class FactorChecks implements SecondFactors {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  async required(personId: string): Promise<readonly SecondFactorField[]> {
    return factorFields(await factorState(this.#deps.store.read, personId))
  }

  /** @throws {Failure} `too_many_attempts` after too many wrong codes of the person */
  async verify(
    personId: string,
    { code, passkey }: GivenFactors,
    cookie: string | undefined,
  ): Promise<ProvenFactor | undefined> {
    if (code !== undefined) {
      return this.#deps.limits.run(personId, () => this.#verifyCode(personId, code))
    }
    if (passkey === undefined) return undefined
    const verified = await this.#verifyAssertion(passkey, cookie)
    if (verified?.passkey.person_id !== personId) return undefined
    const { factor } = verified
    return {
      use: async (stores, nowMicros) => {
        if (!(await factor.use(stores, nowMicros))) return false
        // Whoever uses it knows the password, too: it is the person's.
        if (verified.passkey.needs_password) {
          await stores.passkeys.setNeedsPassword(verified.passkey.id, false)
        }
        return true
      },
    }
  }

  async verifyPasskey(
    assertion: PasskeyAssertionInput,
    cookie: string | undefined,
  ): Promise<{ readonly personId: string; readonly factor: ProvenFactor } | undefined> {
    const verified = await this.#verifyAssertion(assertion, cookie)
    if (verified === undefined || verified.passkey.needs_password) return undefined
    const { passkey, factor } = verified
    const use: ProvenFactor['use'] = async (stores, nowMicros) => {
      // A new password may have made it a second factor since.
      const now = await stores.passkeys.findByCredential(passkey.credential_id)
      return now?.needs_password === false && factor.use(stores, nowMicros)
    }
    return { personId: passkey.person_id, factor: { use } }
  }

  async #verifyAssertion(
    assertion: PasskeyAssertionInput,
    cookie: string | undefined,
  ): Promise<{ readonly passkey: Passkey; readonly factor: ProvenFactor } | undefined> {
    const { store, challenges, ceremonies } = this.#deps
    const challenge = challenges.read(cookie, 'authenticate')
    if (challenge === undefined) return undefined
    const passkey = await store.read.passkeys.findByCredential(assertion.id)
    if (passkey === undefined) return undefined
    const counter = await ceremonies.verifyRequest(assertion, challenge, passkey)
    if (counter === undefined) return undefined
    const use: ProvenFactor['use'] = async (stores, nowMicros) =>
      (await challenge.redeem(stores)) && stores.passkeys.noteUse(passkey.id, counter, nowMicros)
    return { passkey, factor: { use } }
  }

  async #verifyCode(personId: string, code: string): Promise<ProvenFactor | undefined> {
    const { store, clock, secrets, recoveryKey } = this.#deps
    const digits = code.replaceAll(' ', '')
    const totp = await store.read.totp.find(personId)
    const secret = totp?.sealed_secret ?? ''
    const step = await secrets.stepOf(personId, secret, digits, clock.nowMicros())
    if (step !== undefined) return { use: (stores) => stores.totp.useStep(personId, secret, step) }
    const hash = hashRecoveryCode(recoveryKey, personId, code)
    if (!(await store.read.recoveryCodes.isUnused(personId, hash))) return undefined
    return {
      use: (stores, nowMicros) => stores.recoveryCodes.use(personId, hash, nowMicros),
      eventType: 'recovery_code.used',
    }
  }
}
