import { EXTENSION_ID, EXTENSION_PAGE } from '@terse/contract/extension-client'
import {
  type Connection,
  forgetConnection,
  type PendingSignIn,
  passing,
  stored,
} from './connection.ts'

/** To show, make and undo links. The person can withhold any of them. */
const SCOPE = 'links:read links:write links:delete'

/** The endpoints that the extension uses (RFC 8414). */
const METADATA_PATH = '/.well-known/oauth-authorization-server'
const TOKEN_PATH = '/api/oauth/token'
const REVOKE_PATH = '/api/oauth/revoke'

/** A request in time: a popup waits for it. */
const REQUEST_MS_MAX = 10_000

/**
 * Returns the issuer that the service at an origin names; undefined if it is no Terse.
 *
 * @throws where it cannot be reached
 */
export async function issuerAt(origin: string): Promise<string | undefined> {
  const response = await fetch(origin + METADATA_PATH, {
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  })
  const metadata = await response.json().catch(() => undefined)
  return typeof metadata?.issuer === 'string' ? metadata.issuer : undefined
}

/** Begins a sign-in, and returns the page on which the person decides (RFC 6749, section 4.1.1; RFC 7636). */
export async function beginSignIn(origin: string): Promise<string> {
  const pending = { origin, state: randomText(), verifier: randomText() }
  await passing.set({ signIn: pending })
  await passing.remove('signInFault')
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier))
  const asked = new URLSearchParams({
    ...{ client_id: EXTENSION_ID, redirect_uri: origin + EXTENSION_PAGE, response_type: 'code' },
    ...{ scope: SCOPE, state: pending.state },
    ...{ code_challenge: base64url(new Uint8Array(digest)), code_challenge_method: 'S256' },
  })
  return `${origin}/app/authorize?${asked}`
}

/**
 * Completes the sign-in if the address of a tab is its answer. Returns false otherwise: any page can open the answer page,
 * but none knows the state of the sign-in.
 */
export async function endSignIn(address: string): Promise<boolean> {
  const pending = await passing.get('signIn')
  if (pending === undefined) return false
  if (!address.startsWith(`${pending.origin}${EXTENSION_PAGE}#`)) return false
  const answer = new URLSearchParams(new URL(address).hash.slice(1))
  if (answer.get('state') !== pending.state || answer.get('iss') !== pending.origin) return false
  await passing.remove('signIn')
  const code = answer.get('code')
  if (code === null) {
    await passing.set({ signInFault: 'denied' })
    return true
  }
  const connection = await exchange(pending, code).catch(() => undefined)
  if (connection === undefined) {
    await passing.set({ signInFault: 'failed' })
    return true
  }
  await disconnect()
  await stored.set({ connection })
  return true
}

/** Forgets the connection, and revokes its sign-in if the service can be reached. */
export async function disconnect(): Promise<void> {
  const connection = await stored.get('connection')
  // The draft of a connection that has ended stays for the next one.
  if (connection === undefined) return
  await forgetConnection()
  if (connection.kind !== 'grant') return
  await send(connection.origin + REVOKE_PATH, { token: connection.refresh }).catch(() => {})
}

/** A message of the popup to the background. Its answer has `isRight`, unless the service cannot be reached. */
export type RefreshMessage = { readonly kind: 'refresh'; readonly refused: string }

let refreshing: Promise<boolean> | undefined

/**
 * Replaces an access token that was refused. Returns false if the service has ended the sign-in. Only the background
 * calls it: a popup may close before it has kept the answer, and a refresh token works only once.
 *
 * @throws where the service cannot be reached
 */
export function refresh(refused: string): Promise<boolean> {
  refreshing ??= renew(refused).finally(() => {
    refreshing = undefined
  })
  return refreshing
}

async function renew(refused: string): Promise<boolean> {
  const connection = await stored.get('connection')
  if (connection?.kind !== 'grant') return false
  // Another page of the extension has got one meanwhile.
  if (connection.access !== refused) return true
  const { origin } = connection
  const form = {
    grant_type: 'refresh_token',
    client_id: EXTENSION_ID,
    refresh_token: connection.refresh,
  }
  const response = await send(origin + TOKEN_PATH, form)
  if (response.status === 400 || response.status === 401) return false
  await stored.set({ connection: await connectionOf(origin, response) })
  return true
}

async function exchange({ origin, verifier }: PendingSignIn, code: string): Promise<Connection> {
  const form = {
    ...{ grant_type: 'authorization_code', client_id: EXTENSION_ID, code },
    ...{ redirect_uri: origin + EXTENSION_PAGE, code_verifier: verifier },
  }
  return connectionOf(origin, await send(origin + TOKEN_PATH, form))
}

async function connectionOf(origin: string, response: Response): Promise<Connection> {
  if (!response.ok) throw new Error(`the service answered with the status ${response.status}`)
  const { access_token, refresh_token, expires_in, scope } = await response.json()
  return {
    ...{ origin, kind: 'grant', access: access_token, refresh: refresh_token },
    accessUntil: Date.now() + expires_in * 1_000,
    scopes: String(scope).split(' '),
  }
}

function send(address: string, form: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(address, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'error',
    credentials: 'omit',
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  })
}

/** Returns 256 random bits in base64url. */
function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
