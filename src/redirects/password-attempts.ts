import type { IncomingMessage } from 'node:http'
import { boundToLink } from '../links/index.ts'
import { AttemptLimits, type Charge, type Refusal } from '../platform/limits/attempt-limits.ts'
import type { Throttles } from '../platform/limits/throttles.ts'
import { subscriberOf } from '../platform/network/ip-address.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import { FairQueue, QueueRefusal } from '../platform/work/fair-queue.ts'
import { readPassword } from './password-form.ts'
import type { LinkPassword } from './prepared-link.ts'

/** Numbers of wrong passwords of one link. */
const LIMITS = {
  name: 'password-failures',
  windowSeconds: 60,
  perVisitor: 10,
  repeated: 50,
  first: 50,
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
