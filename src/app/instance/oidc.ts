import type { AcceptInvitation } from '../../identity/members/invitations.ts'
import { type OidcAttempt, OidcAttempts, OidcProvider } from '../../identity/oidc/provider.ts'
import { CALLBACK_LIMITS, type Oidc } from '../../identity/oidc/routes.ts'
import { OidcSignIn } from '../../identity/oidc/sign-in.ts'
import type { Sessions } from '../../identity/sign-in/sessions.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { SealedCookie } from '../../platform/http/cookies/sealed-cookie.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { AppContext } from './app-context.ts'

/** For how long a person may be with the provider. */
const ATTEMPT_SECONDS = 10 * 60

/** Single sign-on, where it is configured, and the limit of its callbacks. */
export function openOidc(
  { config, instance, throttles }: AppContext,
  { sessions, invitations }: { sessions: Sessions; invitations: AcceptInvitation },
) {
  const callbackThrottle = throttles.create('oidc-callbacks', CALLBACK_LIMITS)
  if (config.oidc === undefined) return { oidc: undefined, callbackThrottle }
  const { baseUrl, oidc: settings } = config
  const { store, clock, instanceKey } = instance
  const random = systemRandom
  const cookie = new SealedCookie<OidcAttempt>({
    name: 'terse_oidc',
    key: deriveKey(instanceKey, 'oidc-state'),
    random,
    clock,
    isSecure: baseUrl.startsWith('https:'),
    lifetimeSeconds: ATTEMPT_SECONDS,
  })
  const { roles, ownerEmail } = settings
  const client = { ...settings, needsGroups: roles.length > 0 }
  const oidc: Oidc = {
    name: settings.name,
    provider: new OidcProvider(client, `${baseUrl}/app/oidc/callback`),
    attempts: new OidcAttempts(cookie, random),
    signIn: new OidcSignIn({ store, clock, random, sessions, invitations, roles, ownerEmail }),
  }
  return { oidc, callbackThrottle }
}
