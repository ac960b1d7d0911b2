import type { PasskeyAssertionInput } from '@terse/contract/passkeys'
import type {
  PasskeyStore,
  RecoveryCodeStore,
  TotpStore,
  UsedChallengeStore,
} from '../store/credential-store.ts'

/** The stores that `ProvenFactor.use` works with, in the transaction that needs the factor. */
export type SecondFactorStores = {
  readonly totp: TotpStore
  readonly recoveryCodes: RecoveryCodeStore
  readonly passkeys: PasskeyStore
  readonly usedChallenges: UsedChallengeStore
}

/** A second factor that was right when it was checked. */
export type ProvenFactor = {
  /**
   * Marks it as used, in the transaction that creates or renews the session. Returns false where it was used
   * or removed meanwhile; the sign-in then fails. Awaits only `stores`; may run again.
   */
  use(stores: SecondFactorStores, nowMicros: number): Promise<boolean>
  /** The event that its use logs; undefined for factors that are used at every sign-in. */
  readonly eventType?: 'recovery_code.used'
}

/** The request fields that may hold a second factor. */
export type SecondFactorField = 'code' | 'passkey'

export type GivenFactors = {
  readonly code?: string | undefined
  readonly passkey?: PasskeyAssertionInput | undefined
}

/** The second factors of people. Attempts are limited by the caller, before these are asked. */
export type SecondFactors = {
  /** The request fields, one of which must be sent besides the password; empty where the person has no second factor. */
  required(personId: string): Promise<readonly SecondFactorField[]>
  /**
   * Checks what was sent besides the password; undefined where it is wrong.
   *
   * @param cookie the request's `Cookie` header, which holds the passkey's challenge
   */
  verify(
    personId: string,
    given: GivenFactors,
    cookie: string | undefined,
  ): Promise<ProvenFactor | undefined>
  /**
   * Checks a passkey that stands for e-mail and password together; undefined where it is wrong, and for one that is a
   * second factor only.
   */
  verifyPasskey(
    passkey: PasskeyAssertionInput,
    cookie: string | undefined,
  ): Promise<{ readonly personId: string; readonly factor: ProvenFactor } | undefined>
}

/** What a person has set up besides a password. */
export type FactorState = {
  readonly hasTotp: boolean
  readonly passkeys: number
  readonly recoveryCodesLeft: number
}

export async function factorState(
  stores: SecondFactorStores,
  personId: string,
): Promise<FactorState> {
  const totp = await stores.totp.find(personId)
  const passkeys = await stores.passkeys.list(personId)
  return {
    hasTotp: typeof totp?.sealed_secret === 'string',
    passkeys: passkeys.length,
    recoveryCodesLeft: await stores.recoveryCodes.countUnused(personId),
  }
}

/** Recovery codes alone are no second factor: they stand in for one that is lost. */
export function hasSecondFactor({ hasTotp, passkeys }: FactorState): boolean {
  return hasTotp || passkeys > 0
}

/** The fields that prove a second factor; none where the person has no second factor. */
export function factorFields(state: FactorState): readonly SecondFactorField[] {
  const { hasTotp, passkeys, recoveryCodesLeft } = state
  const fields: SecondFactorField[] = []
  if (!hasSecondFactor(state)) return fields
  if (hasTotp || recoveryCodesLeft > 0) fields.push('code')
  if (passkeys > 0) fields.push('passkey')
  return fields
}
