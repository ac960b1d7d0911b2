import { OwnIdentities } from '../../identity/oidc/sign-in.ts'
import {
  CodeLimits,
  FactorChecks,
  TotpSecrets,
} from '../../identity/second-factors/factor-checks.ts'
import { OwnFactors } from '../../identity/second-factors/own-factors.ts'
import { OwnPasskeys } from '../../identity/second-factors/own-passkeys.ts'
import {
  PasskeyCeremonies,
  PasskeyChallenges,
} from '../../identity/second-factors/passkey-ceremonies.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { SealedCookie } from '../../platform/http/cookies/sealed-cookie.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { AppContext } from './app-context.ts'

/** For how long a browser keeps a challenge for a passkey. */
const CHALLENGE_SECONDS = 5 * 60

/** The services behind second factors. */
export function openSecondFactors({ config, instance, throttles }: AppContext) {
  const { store, clock, instanceKey } = instance
  const { baseUrl } = config
  const random = systemRandom
  const secrets = new TotpSecrets({
    key: deriveKey(instanceKey, 'totp-secret'),
    random,
    issuer: new URL(baseUrl).hostname,
  })
  const cookie = new SealedCookie<{ readonly challenge: string }>({
    name: 'terse_challenge',
    key: deriveKey(instanceKey, 'passkey-challenge'),
    random,
    clock,
    isSecure: baseUrl.startsWith('https:'),
    lifetimeSeconds: CHALLENGE_SECONDS,
  })
  const challenges = new PasskeyChallenges(cookie, random)
  const ceremonies = new PasskeyCeremonies(baseUrl)
  const limits = new CodeLimits(throttles)
  const issuer = config.oidc?.issuer
  const recoveryKey = deriveKey(instanceKey, 'recovery-codes')
  const codes = { store, clock, secrets, recoveryKey, limits }
  return {
    secondFactors: new FactorChecks({ ...codes, challenges, ceremonies }),
    ownFactors: new OwnFactors({ ...codes, random }),
    ownPasskeys: new OwnPasskeys({ store, clock, random, challenges, ceremonies, issuer }),
    ownIdentities: new OwnIdentities({ store, clock, issuer }),
  }
}
