import { hash } from 'node:crypto'
import type { Configuration } from 'openid-client'
import type { Random } from '../../platform/crypto/random.ts'
import type { SealedCookie } from '../../platform/http/cookies/sealed-cookie.ts'
import type { UsedChallengeStore } from '../store/credential-store.ts'

/** The provider's answers are needed within a request. */
const TIMEOUT_SECONDS = 5
/** Then the provider's addresses are read again. */
const DISCOVERY_MS = 60 * 60 * 1_000
/** After a failed discovery, so that requests do not wait for an issuer that is down one after the other. */
const FAILURE_MS = 5_000

type OidcClient = {
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  /** Separated by spaces. */
  readonly scopes: string
  readonly groupsClaim: string
  /** Whether groups are needed; the provider may have to be asked for them. */
  readonly needsGroups: boolean
}

/** What ties the provider's answer to the browser that began. */
type OidcChecks = {
  readonly state: string
  readonly nonce: string
  /** The code verifier of PKCE. */
  readonly verifier: string
}

/** An account with the provider. Only issuer and subject identify it. */
export type OidcAccount = {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly name: string | undefined
  readonly groups: readonly string[]
}

type Claims = Readonly<Record<string, unknown>>

/** An OpenID Connect provider. Its addresses are discovered at the first sign-in, never at the start. */
export class OidcProvider {
  readonly #client: OidcClient
  readonly #redirectUri: string
  #discovered:
    | { readonly configuration: Promise<Configuration>; readonly untilMs: number }
    | undefined

  constructor(client: OidcClient, redirectUri: string) {
    this.#client = client
    this.#redirectUri = redirectUri
  }

  /**
   * Returns the address to which the browser goes.
   *
   * @throws {OidcFault} `oidc_unavailable`
   */
  async authorizationUrl({ state, nonce, verifier }: OidcChecks): Promise<string> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
    const url = buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: this.#redirectUri,
      scope: this.#client.scopes,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    return url.href
  }

  /**
   * Exchanges the code of a callback for the account. Verifies state, nonce, issuer, audience, signature and
   * expiry.
   *
   * @param query of the callback, as it came
   * @throws {OidcFault}
   */
  async accountOf(query: string, { state, nonce, verifier }: OidcChecks): Promise<OidcAccount> {
    const { authorizationCodeGrant } = await import('openid-client')
    const configuration = await this.#configuration()
    try {
      const tokens = await authorizationCodeGrant(
        configuration,
        new URL(`${this.#redirectUri}?${query}`),
        {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        },
      )
      const claims = tokens.claims()
      if (claims === undefined) throw new OidcFault('oidc_failed')
      const more = await this.#moreClaims(configuration, tokens.access_token, claims)
      return accountOf({ ...more, ...claims }, claims.iss, claims.sub, this.#client.groupsClaim)
    } catch (error) {
      throw faultOf(error)
    }
  }

  /** Claims that the ID token lacks, from the provider's user info. */
  async #moreClaims(
    configuration: Configuration,
    accessToken: string,
    claims: Claims & { readonly sub: string },
  ): Promise<Claims> {
    const { fetchUserInfo } = await import('openid-client')
    const needed = ['email', ...(this.#client.needsGroups ? [this.#client.groupsClaim] : [])]
    const isComplete = needed.every((name) => claims[name] !== undefined)
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return {}
    return fetchUserInfo(configuration, accessToken, claims.sub)
  }

  async #configuration(): Promise<Configuration> {
    const now = performance.now()
    if (this.#discovered === undefined || this.#discovered.untilMs <= now) {
      const configuration = this.#discover()
      this.#discovered = { configuration, untilMs: now + DISCOVERY_MS }
      configuration.catch(() => {
        this.#discovered = { configuration, untilMs: performance.now() + FAILURE_MS }
      })
    }
    return this.#discovered.configuration
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const { issuer, clientId, clientSecret } = this.#client
    const url = new URL(issuer)
    // The settings allow plain HTTP on this machine alone.
    const extensions = url.protocol === 'http:' ? [client.allowInsecureRequests] : []
    try {
      const found = await client.discovery(url, clientId, undefined, client.None(), {
        execute: extensions,
        timeout: TIMEOUT_SECONDS,
      })
      const methods = found.serverMetadata().token_endpoint_auth_methods_supported
      const configuration = new client.Configuration(
        found.serverMetadata(),
        clientId,
        undefined,
        authenticationOf(client, clientSecret, methods),
      )
      configuration.timeout = TIMEOUT_SECONDS
      for (const extend of extensions) extend(configuration)
      client.enableNonRepudiationChecks(configuration)
      return configuration
    } catch (error) {
      throw new OidcFault('oidc_unavailable', reasonOf(error))
    }
  }
}

type Library = Pick<
  typeof import('openid-client'),
  'None' | 'ClientSecretBasic' | 'ClientSecretPost'
>

/** Basic authentication is what providers must support (OpenID Connect Core, section 9). */
function authenticationOf(
  { None, ClientSecretBasic, ClientSecretPost }: Library,
  secret: string | undefined,
  methods: readonly string[] = ['client_secret_basic'],
) {
  if (secret === undefined) return None()
  const isBasic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post')
  return isBasic ? ClientSecretBasic(secret) : ClientSecretPost(secret)
}

function accountOf(
  claims: Claims,
  issuer: string,
  subject: string,
  groupsClaim: string,
): OidcAccount {
  const { email, email_verified: verified, name } = claims
  const groups = claims[groupsClaim]
  const list = Array.isArray(groups) ? groups : [groups]
  return {
    issuer,
    subject,
    email: typeof email === 'string' ? email : undefined,
    // Some providers send text.
    isEmailVerified: verified === true || verified === 'true',
    name: typeof name === 'string' ? lineOf(name) : undefined,
    groups: list.filter((group) => typeof group === 'string'),
  }
}

/** One line of text, as names of people are; undefined for none. */
function lineOf(text: string): string | undefined {
  const line = text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
  return line === '' ? undefined : line
}

function faultOf(error: unknown): OidcFault {
  if (error instanceof OidcFault) return error
  const details = reasonOf(error)
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown }
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return new OidcFault('oidc_denied', details)
  const isSilent = name === 'TimeoutError' || code === 'OAUTH_TIMEOUT' || isNetworkError(error)
  return new OidcFault(isSilent ? 'oidc_unavailable' : 'oidc_failed', details)
}

/** What `fetch` throws when no answer came. */
function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed'
}

/** Never the cause, which may hold tokens, and no header or body of a request. */
function reasonOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return {}
  const { code, error: oauthError } = error as { readonly code?: unknown; readonly error?: unknown }
  return { reason: error.message, code, oauthError }
}

const RANDOM_BYTES = 32
/** The context under which the cookie is sealed. */
const CONTEXT = 'single sign-on'

/** What a way through the provider is for. */
export type OidcIntent =
  | { readonly kind: 'sign-in' }
  /** To link the account to a person who is signed in. */
  | { readonly kind: 'link'; readonly personId: string }
  /** To accept an invitation. */
  | { readonly kind: 'invitation'; readonly code: string }

/** A way through the provider that a browser has begun. */
export type OidcAttempt = OidcChecks & {
  readonly intent: OidcIntent
  /** Where the browser goes afterwards: a path of the dashboard. */
  readonly returnPath: string
}

type AttemptCookie = SealedCookie<OidcAttempt>

/** The ways through the provider that are under way: each is in a cookie of its browser alone. */
export class OidcAttempts {
  readonly #cookie: AttemptCookie
  readonly #random: Random

  constructor(cookie: AttemptCookie, random: Random) {
    this.#cookie = cookie
    this.#random = random
  }

  begin(intent: OidcIntent, returnPath: string): { attempt: OidcAttempt; setCookie: string } {
    const text = () => Buffer.from(this.#random(RANDOM_BYTES)).toString('base64url')
    const attempt = { state: text(), nonce: text(), verifier: text(), intent, returnPath }
    return { attempt, setCookie: this.#cookie.issue(attempt, CONTEXT) }
  }

  /**
   * Returns the attempt of a `Cookie` header; undefined where there is none that is valid. `redeem` marks it
   * as used in a transaction, and returns false when it was used before.
   */
  read(cookies: string | undefined):
    | {
        readonly attempt: OidcAttempt
        redeem(stores: { readonly usedChallenges: UsedChallengeStore }): Promise<boolean>
      }
    | undefined {
    const opened = this.#cookie.read(cookies, CONTEXT)
    if (opened === undefined) return undefined
    const attempt = opened.value
    return {
      attempt,
      redeem: ({ usedChallenges }) =>
        usedChallenges.use(hash('sha256', attempt.state, 'hex'), opened.expiresAtMicros),
    }
  }

  get removal(): string {
    return this.#cookie.removal
  }
}

/** Why a sign-in with the provider failed, as the address of the sign-in page names it. */
type OidcFaultCode =
  /** The provider cannot be reached, or does not answer in time. */
  | 'oidc_unavailable'
  /** The person or the provider refused. */
  | 'oidc_denied'
  /** The answer is not one to a sign-in that this browser began in the last minutes, or was used before. */
  | 'oidc_expired'
  /** The answer of the provider is not valid. */
  | 'oidc_failed'
  /** The account with the provider leads to no person who may sign in. */
  | 'oidc_unknown'
  /** The account with the provider leads to another person. */
  | 'oidc_linked_elsewhere'
  /** The session with which the link was begun has ended. */
  | 'oidc_session_ended'
  /** The invitation is used, expired or withdrawn. */
  | 'oidc_invitation'
  /** A new person needs the link that was mailed to the address of the invitation. */
  | 'oidc_mailed_link'
  /** The address of the invitation belongs to a person, who must sign in before accepting it. */
  | 'oidc_address_taken'

/** A sign-in with the provider that cannot go on. */
export class OidcFault extends Error {
  override readonly name = 'OidcFault'
  readonly code: OidcFaultCode
  /** For the log; never a secret. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: OidcFaultCode, details: Readonly<Record<string, unknown>> = {}) {
    super(`single sign-on: ${code}`)
    this.code = code
    this.details = details
  }
}
