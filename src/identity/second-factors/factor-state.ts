import type { SecondFactorField, SecondFactorStores } from './second-factors.ts'

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

/** Recovery codes alone are none: they stand in for a second factor that is lost. */
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
