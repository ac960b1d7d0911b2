import { hash } from 'node:crypto'
import type { PasskeyAssertionInput } from '@terse/contract/passkeys'
import type { Random } from '../../platform/crypto/random.ts'
import type { SealedCookie } from '../../platform/http/cookies/sealed-cookie.ts'
import { isIpAddress } from '../../platform/network/ip-address.ts'
import type { Person } from '../people/person.ts'
import type { Passkey } from '../store/credential-store.ts'
import type { SecondFactorStores } from './second-factors.ts'

/** How long a person may take; as long as the challenge is valid. */
const TIMEOUT_MS = 5 * 60 * 1_000
const RP_NAME = 'Terse'
/** EdDSA, ES256 and RS256 (COSE), which every authenticator has one of. */
const ALGORITHMS = [-8, -7, -257]

/** The JSON form of what a browser returns for a new passkey. */
export type RegistrationInput = {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string }
}

/** The JSON form of what `navigator.credentials` takes. */
export type CeremonyOptions = Readonly<Record<string, unknown>>

/** What is stored of a new passkey's key. */
type NewCredential = Pick<Passkey, 'credential_id' | 'public_key' | 'counter' | 'transports'>

/**
 * The ceremonies of WebAuthn, for one origin. Passkeys are discoverable and verify their user, so that one
 * alone can sign in. Loads the library when it is first needed.
 */
export class PasskeyCeremonies {
  readonly #origin: string
  readonly #rpId: string

  /** Whether the host has a name: browsers make no passkeys for IP addresses. */
  get isPossible(): boolean {
    return !isIpAddress(this.#rpId.replace(/^\[|\]$/g, ''))
  }

  /** @param baseUrl an origin; its host is the relying party */
  constructor(baseUrl: string) {
    this.#origin = baseUrl
    this.#rpId = new URL(baseUrl).hostname
  }

  async creationOptions(
    person: Pick<Person, 'id' | 'email' | 'name'>,
    challenge: Uint8Array<ArrayBuffer>,
    existing: readonly Passkey[],
  ): Promise<CeremonyOptions> {
    const { generateRegistrationOptions } = await import('@simplewebauthn/server')
    const options = await generateRegistrationOptions({
      rpName: RP_NAME,
      rpID: this.#rpId,
      userID: userHandleOf(person.id),
      userName: person.email,
      userDisplayName: person.name,
      challenge,
      timeout: TIMEOUT_MS,
      attestationType: 'none',
      supportedAlgorithmIDs: ALGORITHMS,
      excludeCredentials: existing.map(({ credential_id: id, transports }) => ({
        id,
        transports: [...transports],
      })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    return { ...options }
  }

  async requestOptions(challenge: Uint8Array<ArrayBuffer>): Promise<CeremonyOptions> {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
    const options = await generateAuthenticationOptions({
      rpID: this.#rpId,
      challenge,
      timeout: TIMEOUT_MS,
      userVerification: 'required',
    })
    return { ...options }
  }

  /** Returns the key of a new passkey; undefined where the answer is not one to the challenge. */
  async verifyCreation(
    registration: RegistrationInput,
    challenge: Challenge,
  ): Promise<NewCredential | undefined> {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
    if (await hasCertificates(registration)) return undefined
    const verified = await verifyRegistrationResponse({
      response: { ...registration, clientExtensionResults: {} },
      expectedChallenge: challenge.text,
      expectedOrigin: this.#origin,
      expectedRPID: this.#rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch(() => undefined)
    if (verified?.verified !== true) return undefined
    const { id, publicKey, counter } = verified.registrationInfo.credential
    return {
      credential_id: id,
      public_key: Buffer.from(publicKey).toString('base64url'),
      counter,
      transports: transportsOf(registration),
    }
  }

  /** Returns the authenticator's new counter; undefined where the answer is not one to the challenge. */
  async verifyRequest(
    assertion: PasskeyAssertionInput,
    challenge: Challenge,
    passkey: Passkey,
  ): Promise<number | undefined> {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
    const { userHandle } = assertion.response
    const handle = Buffer.from(userHandleOf(passkey.person_id)).toString('base64url')
    if (userHandle !== undefined && userHandle !== handle) return undefined
    const verified = await verifyAuthenticationResponse({
      response: { ...assertion, clientExtensionResults: {} } as Parameters<
        typeof verifyAuthenticationResponse
      >[0]['response'],
      expectedChallenge: challenge.text,
      expectedOrigin: this.#origin,
      expectedRPID: this.#rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: Uint8Array.from(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.counter,
      },
    }).catch(() => undefined)
    return verified?.verified === true ? verified.authenticationInfo.newCounter : undefined
  }
}

/** The bytes under which authenticators know the person: they hold no e-mail address. */
function userHandleOf(personId: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(personId.replaceAll('-', ''), 'hex'))
}

/**
 * Whether the attestation has certificates. None is requested, and to verify one the library might fetch
 * revocation lists from addresses that the certificate names.
 */
async function hasCertificates({ response }: RegistrationInput): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  try {
    const bytes = Uint8Array.from(Buffer.from(response.attestationObject, 'base64url'))
    const statement = decodeAttestationObject(bytes).get('attStmt')
    return statement.get('x5c') !== undefined
  } catch {
    // The verification that follows refuses it.
    return false
  }
}

/** As the browser names them; kept so that it need not ask the person which device to use. */
function transportsOf({ response }: RegistrationInput): readonly string[] {
  const { transports } = response as { readonly transports?: unknown }
  if (!Array.isArray(transports)) return []
  return transports.filter((name) => typeof name === 'string' && /^[a-z-]{1,20}$/.test(name))
}

type ChallengeCookie = SealedCookie<{ readonly challenge: string }>

/** WebAuthn, section 13.4.3, asks for at least 16. */
const CHALLENGE_BYTES = 32

/** What a challenge is for: to prove a passkey, or to add one to a person. */
export type ChallengePurpose = 'authenticate' | `add to ${string}`

/** The challenge that a browser was given. */
type Challenge = {
  /** In base64url. */
  readonly text: string
  /** Marks it as used, in the transaction of what it allows; false when it was used before. */
  redeem(stores: Pick<SecondFactorStores, 'usedChallenges'>): Promise<boolean>
}

/** Challenges for passkeys. Until one is redeemed, only its browser keeps it. */
export class PasskeyChallenges {
  readonly #cookie: ChallengeCookie
  readonly #random: Random

  constructor(cookie: ChallengeCookie, random: Random) {
    this.#cookie = cookie
    this.#random = random
  }

  /** Returns new random bytes, and the `Set-Cookie` header that keeps them. */
  issue(purpose: ChallengePurpose): { bytes: Uint8Array<ArrayBuffer>; setCookie: string } {
    const bytes = Uint8Array.from(this.#random(CHALLENGE_BYTES))
    const challenge = Buffer.from(bytes).toString('base64url')
    return { bytes, setCookie: this.#cookie.issue({ challenge }, purpose) }
  }

  /** Returns the challenge of a `Cookie` header; undefined where none is valid for the purpose. */
  read(cookies: string | undefined, purpose: ChallengePurpose): Challenge | undefined {
    const opened = this.#cookie.read(cookies, purpose)
    if (opened === undefined) return undefined
    const { challenge } = opened.value
    return {
      text: challenge,
      redeem: ({ usedChallenges }) =>
        usedChallenges.use(hash('sha256', challenge, 'hex'), opened.expiresAtMicros),
    }
  }
}
