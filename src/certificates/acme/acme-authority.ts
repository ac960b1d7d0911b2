import type { z } from 'zod'
import type { Clock } from '../../platform/time/clock.ts'
import { AuthorityError } from '../authority-error.ts'
import {
  type AuthorityAccount,
  type AuthorityChallenge,
  type AuthorityOrder,
  CALL_MS_MAX,
  type CertificateAuthority,
  type ChallengeType,
  type HostAuthorization,
  type RenewalAdvice,
} from '../certificate-authority.ts'
import {
  authorizationSchema,
  type challengeSchema,
  directorySchema,
  orderSchema,
  renewalInfoSchema,
} from './acme-schemas.ts'
import { type AuthorityResponse, authorityHttp } from './authority-http.ts'
import { certificateRequest } from './certificate-request.ts'
import { errorOf, problemText } from './problem.ts'
import { renewalIdOf } from './renewal-id.ts'
import { parseRetryAfter } from './retry-after.ts'
import { bindExternalAccount, signedRequests, thumbprintOf } from './signed-requests.ts'

const REQUEST_TIMEOUT_MS = 8_000
/** With a nonce and the directory to be fetched before it, a call stays within `CALL_MS_MAX`. */
const NONCE_DEADLINE_MS = CALL_MS_MAX - 3 * REQUEST_TIMEOUT_MS
const DIRECTORY_KEPT_MICROS = 60 * 60 * 1_000_000
/** Tokens are base64url (RFC 8555, section 8.1), and end in a path and in the database. */
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/

type Directory = z.output<typeof directorySchema>

export type AcmeOptions = {
  /** The address of the directory. */
  readonly directory: string
  /** Where the authority may write to the operator. */
  readonly email: string | undefined
  /** An account that its owner has with the authority; `hmacKey` in base64url. */
  readonly external: { readonly kid: string; readonly hmacKey: string } | undefined
  /** Certificates to trust for the authority's own HTTPS, in PEM; undefined for the usual ones. */
  readonly trusted: readonly string[] | undefined
  /** One of the kinds of certificate that the authority lists; its default when undefined. */
  readonly profile: string | undefined
  readonly clock: Clock
}

/** A certificate authority over ACME (RFC 8555), with renewal information (RFC 9773). */
export function acmeAuthority(options: AcmeOptions): CertificateAuthority {
  const { clock, email, external, profile } = options
  const http = authorityHttp({ trusted: options.trusted, timeoutMs: REQUEST_TIMEOUT_MS })
  const requests = signedRequests({
    http,
    newNonceUrl: async () => (await directory()).newNonce,
    deadlineMs: NONCE_DEADLINE_MS,
  })
  let kept: { readonly at: number; readonly directory: Directory } | undefined

  const nowMs = () => clock.nowMicros() / 1_000

  async function directory(): Promise<Directory> {
    const now = clock.nowMicros()
    if (kept === undefined || Math.abs(now - kept.at) > DIRECTORY_KEPT_MICROS) {
      const response = await http.send('GET', options.directory)
      if (response.status !== 200) throw errorOf(response, options.directory, nowMs(), 'away')
      kept = { at: now, directory: parse(directorySchema, response, options.directory) }
    }
    return kept.directory
  }

  async function post(
    account: AuthorityAccount,
    url: string,
    payload?: unknown,
    accept?: string,
  ): Promise<AuthorityResponse> {
    const signer = { keyPem: account.keyPem, accountUrl: account.url }
    const response = await requests.post(signer, url, payload, accept ? { accept } : {})
    if (response.status >= 300) throw errorOf(response, url, nowMs())
    return response
  }

  function orderOf(response: AuthorityResponse, url: string): AuthorityOrder {
    const order = parse(orderSchema, response, url)
    return {
      url,
      status: order.status,
      authorizationUrl: order.authorizations[0],
      finalizeUrl: order.finalize,
      certificateUrl: order.certificate,
      fault: order.error && problemText(order.error),
      retryAfterMs: retryAfterOf(response),
    }
  }

  function retryAfterOf(response: AuthorityResponse): number | undefined {
    return parseRetryAfter(response.header('retry-after'), nowMs())
  }

  return {
    directory: options.directory,

    caaIdentities: async () => (await directory()).meta?.caaIdentities ?? [],

    async openAccount(keyPem) {
      const { newAccount, meta } = await directory()
      if (meta?.externalAccountRequired === true && external === undefined) {
        throw new AuthorityError(
          'account',
          'externalAccountRequired: set TERSE_ACME_EAB_KID and TERSE_ACME_EAB_HMAC_KEY',
        )
      }
      const binding = external && (await bindExternalAccount(keyPem, external, newAccount))
      const payload = {
        termsOfServiceAgreed: true,
        ...(email !== undefined && { contact: [`mailto:${email}`] }),
        ...(binding !== undefined && { externalAccountBinding: binding }),
      }
      const response = await requests.post({ keyPem, accountUrl: undefined }, newAccount, payload)
      if (response.status >= 300) throw errorOf(response, newAccount, nowMs(), 'account')
      return locationOf(response, newAccount)
    },

    async placeOrder(account, host, replaces) {
      const { newOrder, renewalInfo, meta } = await directory()
      if (profile !== undefined && meta?.profiles?.[profile] === undefined) {
        const known = Object.keys(meta?.profiles ?? {}).join(', ') || 'none'
        throw new AuthorityError(
          'account',
          `the profile ${profile} of TERSE_ACME_PROFILE is not among the authority's: ${known}`,
        )
      }
      const renewed = renewalInfo && replaces
      const payload = {
        identifiers: [{ type: 'dns', value: host }],
        ...(profile !== undefined && { profile }),
      }
      const place = async (body: object) => {
        const response = await post(account, newOrder, body)
        return orderOf(response, locationOf(response, newOrder))
      }
      if (!renewed) return place(payload)
      try {
        return await place({ ...payload, replaces: renewed })
      } catch (error) {
        // Renewed by another order already, or unknown here: then it is an order like any other.
        if (!(error instanceof AuthorityError && error.trouble === 'refused')) throw error
        return place(payload)
      }
    },

    async readOrder(account, url) {
      return orderOf(await post(account, url), url)
    },

    async readAuthorization(account, url): Promise<HostAuthorization> {
      const response = await post(account, url)
      const { status, challenges } = parse(authorizationSchema, response, url)
      const fault = challenges.find(({ error }) => error !== undefined)?.error
      return {
        status: status === 'pending' || status === 'valid' ? status : 'void',
        challenges: challenges.flatMap(usableChallenge),
        fault: fault && problemText(fault),
        retryAfterMs: retryAfterOf(response),
      }
    },

    answerTo: async ({ keyPem }, token) => `${token}.${await thumbprintOf(keyPem)}`,

    async beginChallenge(account, url) {
      await post(account, url, {})
    },

    async finalize(account, order, host, keyPem) {
      const csr = certificateRequest(keyPem, host).toString('base64url')
      return orderOf(await post(account, order.finalizeUrl, { csr }), order.url)
    },

    async download(account, url) {
      return (await post(account, url, undefined, 'application/pem-certificate-chain')).text
    },

    renewalIdOf,

    async adviseRenewal(renewalId): Promise<RenewalAdvice | undefined> {
      const { renewalInfo } = await directory()
      if (renewalInfo === undefined) return undefined
      const url = `${renewalInfo.replace(/\/$/, '')}/${renewalId}`
      const response = await http.send('GET', url)
      if (response.status !== 200) throw errorOf(response, url, nowMs())
      const { start, end } = parse(renewalInfoSchema, response, url).suggestedWindow
      return {
        window: { start: Date.parse(start) * 1_000, end: Date.parse(end) * 1_000 },
        retryAfterMs: retryAfterOf(response),
      }
    },

    cancel: () => http.cancel(),
  }
}

function usableChallenge({
  type,
  url,
  token,
  status = 'pending',
}: z.output<typeof challengeSchema>): AuthorityChallenge[] {
  return isAnswerable(type) && token !== undefined && TOKEN.test(token)
    ? [{ type, url, token, status }]
    : []
}

function isAnswerable(type: string): type is ChallengeType {
  return type === 'http-01' || type === 'tls-alpn-01'
}

function locationOf(response: AuthorityResponse, url: string): string {
  const location = response.header('location')
  if (location === undefined || !URL.canParse(location, url)) throw unexpected(url)
  return new URL(location, url).href
}

/** @throws {AuthorityError} `away` where the answer is not of the form that RFC 8555 gives it */
function parse<S extends z.ZodType>(
  schema: S,
  response: AuthorityResponse,
  url: string,
): z.output<S> {
  try {
    return schema.parse(JSON.parse(response.text))
  } catch (cause) {
    throw unexpected(url, cause)
  }
}

function unexpected(url: string, cause?: unknown): AuthorityError {
  const { host } = new URL(url)
  return new AuthorityError('away', `${host} answered in a form that is not ACME's`, { cause })
}
