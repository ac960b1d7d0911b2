import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { boundToLink } from '../links/index.ts'
import { AttemptLimits, type Charge, type Refusal } from '../platform/limits/attempt-limits.ts'
import type { Throttles } from '../platform/limits/throttle.ts'
import { subscriberOf } from '../platform/network/ip-address.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import { FairQueue, QueueRefusal } from '../platform/work/fair-queue.ts'
import type { LinkPassword, PreparedLink } from './prepared-link.ts'

/** For how long a visitor need not enter a password again. */
const LIFETIME_SECONDS = 10 * 60
const NAME = 'terse_password'
const COOKIE = new RegExp(`(?:^|;\\s*)${NAME}=(\\d{1,12})\\.([A-Za-z0-9_-]{43})(?:;|$)`)

/** Cookies that prove that the visitor has entered the link's password. */
export type PasswordCookies = {
  /** Returns the `Set-Cookie` header for a visitor who has just entered it. */
  issue(link: PreparedLink, path: string, secure: boolean, nowMs: number): string
  /** Returns whether a `Cookie` header holds a valid one for the link's present password. */
  accepts(link: PreparedLink, header: string | undefined, nowMs: number): boolean
}

/** @param key 32 bytes, used for these cookies only */
export function passwordCookies(key: Buffer): PasswordCookies {
  // The sealed password is signed too: a changed password ends the cookies of the old one.
  const sign = (link: PreparedLink, expires: string) =>
    createHmac('sha256', key)
      .update(`${link.seq}\n${link.traits.password?.sealed}\n${expires}`)
      .digest()

  return {
    issue(link, path, secure, nowMs) {
      const expires = String(Math.floor(nowMs / 1000) + LIFETIME_SECONDS)
      const value = `${expires}.${sign(link, expires).toString('base64url')}`
      const attributes = `Path=${path}; Max-Age=${LIFETIME_SECONDS}; HttpOnly; SameSite=Lax`
      return `${NAME}=${value}; ${attributes}${secure ? '; Secure' : ''}`
    },
    accepts(link, header, nowMs) {
      const [, expires, signature] = COOKIE.exec(header ?? '') ?? []
      if (expires === undefined || signature === undefined) return false
      if (Number(expires) * 1000 <= nowMs) return false
      return timingSafeEqual(Buffer.from(signature, 'base64url'), sign(link, expires))
    },
  }
}

/** Enough for a percent-encoded password of 512 characters and its field's name. */
const FORM_BYTES_MAX = 8 * 1024

/** Returns the password that a form sent; undefined for a body that is too long, cut off or not a form. */
function readPassword(request: IncomingMessage): Promise<string | undefined> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') {
    request.resume()
    return Promise.resolve(undefined)
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= FORM_BYTES_MAX) chunks.push(chunk)
    })
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
      resolve(size <= FORM_BYTES_MAX ? (form.get('password') ?? undefined) : undefined)
    })
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}

/** Numbers of wrong passwords of one link. */
const LIMITS = {
  name: 'password-failures',
  windowSeconds: 60,
  perVisitor: 10,
  byKnownGuessers: 50,
  byOthers: 50,
  rememberedSeconds: 60 * 60,
}

export type FailedAttempt =
  /** The password was not checked, because too many were wrong. */
  | { readonly kind: 'throttled'; readonly waitSeconds: number }
  /** The password was not checked, because too many are waiting for it. */
  | { readonly kind: 'busy'; readonly waitSeconds: number }
  /** The request is not a password form. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'wrong' }

/** The outcome of an attempt at a link's password. */
export type PasswordAttempt = FailedAttempt | { readonly kind: 'right' }

/**
 * Reads the password from a request's form and compares it with that of the link with the number `seq`,
 * within the limits for the address and the link.
 */
export type AttemptPassword = (
  request: IncomingMessage,
  address: string,
  link: { readonly seq: number; readonly password: LinkPassword },
) => Promise<PasswordAttempt>

export function passwordAttempts(deps: {
  vault: Pick<PasswordVault, 'verify'>
  throttles: Throttles
}): AttemptPassword {
  const limits = new AttemptLimits(deps.throttles, LIMITS)
  // All visitors of a workspace share its places in the queue for hashing. One visitor may take a few of
  // them: enough to keep all threads busy, and few enough to leave room for others.
  const visitors = new FairQueue({
    work: 'attempts at a password',
    concurrency: Number.POSITIVE_INFINITY,
    concurrencyPerOwner: 4,
    waitingPerOwnerMax: 64,
    waitingMax: 4_096,
    deadlineMs: 5_000,
  })

  async function attempt(
    text: string,
    link: string,
    visitor: string,
    { sealed, linkId, workspaceId }: LinkPassword,
  ): Promise<PasswordAttempt> {
    // Checked before the attempt takes a place in the queue for hashing. The attempt is counted when its
    // turn has come, so that only running attempts count as failures before they are known to be right.
    const refusal = limits.refusal(link, visitor)
    if (refusal !== undefined) return { kind: 'throttled', ...refusal }
    let charge: Charge | undefined
    let isRight: boolean | undefined
    try {
      isRight = await deps.vault.verify(sealed, text, {
        boundTo: boundToLink(linkId),
        // A queue of their own: visitors must not delay the workspace's own hashes.
        owner: `visitors of ${workspaceId}`,
        onTurn() {
          charge = chargeOrThrow(limits.charge(link, visitor))
        },
      })
    } finally {
      if (isRight === false) charge?.keep()
      else charge?.giveBack()
    }
    return { kind: isRight ? 'right' : 'wrong' }
  }

  return async (request, address, { seq, password }) => {
    const text = await readPassword(request)
    if (text === undefined) return { kind: 'malformed' }
    const link = String(seq)
    const visitor = `${link} ${subscriberOf(address)}`
    try {
      return await visitors.run(visitor, () => attempt(text, link, visitor, password))
    } catch (error) {
      if (error instanceof QueueRefusal) {
        return { kind: 'busy', waitSeconds: error.retryAfterSeconds }
      }
      if (error instanceof Throttled) return { kind: 'throttled', ...error.refusal }
      throw error
    }
  }
}

class Throttled extends Error {
  override readonly name = 'Throttled'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super('too many wrong passwords')
    this.refusal = refusal
  }
}

function chargeOrThrow(outcome: Charge | Refusal): Charge {
  if ('waitSeconds' in outcome) throw new Throttled(outcome)
  return outcome
}

/** What a visitor gets whose attempt failed, and what the visit is counted as. */
export function pageOfAttempt(attempt: FailedAttempt) {
  switch (attempt.kind) {
    case 'throttled': {
      const page = { kind: 'too-many-attempts', waitSeconds: attempt.waitSeconds } as const
      return { status: 429, page, outcome: 'password_throttled' } as const
    }
    case 'busy':
      return { status: 503, page: attempt, outcome: 'password_busy' } as const
    case 'malformed':
      return {
        status: 400,
        page: { kind: 'invalid-request' },
        outcome: 'password_malformed',
      } as const
    case 'wrong': {
      const page = { kind: 'password', isWrong: true } as const
      return { status: 403, page, outcome: 'password_wrong' } as const
    }
  }
}
