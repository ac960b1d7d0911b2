import type { ChallengeType } from './certificate-authority.ts'

/** What an order is for; it says which budgets it is charged to. */
export type OrderPurpose =
  | 'first'
  /** It replaces a certificate that has a third of its life left, or that has ended. */
  | 'renewal'
  /** It replaces one sooner, as the authority has advised. */
  | 'advised'

/**
 * Which line a host waits in. `ready`: it has a certificate or an order under way, or is the service's
 * own. `new`: it has no certificate yet. `failing`: it has none, and its last order failed.
 */
export type OrderQueue = 'ready' | 'new' | 'failing'

/** An order that has been begun. What it holds is enough for another process to go on with it. */
export type OngoingOrder = {
  /** Where it is placed. */
  readonly directory: string
  readonly purpose: OrderPurpose
  /** The private key of the certificate to come, as `KeyVault` has sealed it. */
  readonly sealedKey: string
  /** Null until the authority has confirmed it. */
  readonly url: string | null
}

/** What the authority asks of a host while an order is under way, and the answer. */
export type ActiveChallenge = {
  readonly type: ChallengeType
  readonly token: string
  readonly answer: string
}

/** A host that has a certificate, or is to have one, and what is to be done about it next. */
export type CertificateOrder = {
  /** Lower-case, in A-label form. */
  readonly host: string
  /** In which the host is active; empty for the service's own host. */
  readonly workspaceId: string
  readonly queue: OrderQueue
  readonly underWay: OngoingOrder | null
  readonly challenge: ActiveChallenge | null
  /** Failed attempts in a row. */
  readonly attempts: number
  /** When to look at it again. Microseconds since the epoch. */
  readonly nextAt: number
  /** What the last attempt failed with, or what it waits for; null when all is well. */
  readonly failure: string | null
}

/** One that a single node may work on, until its lease ends. */
export type LeasedOrder = CertificateOrder & {
  /** Rises with every lease: what comes under an older one is refused. */
  readonly fence: number
}
