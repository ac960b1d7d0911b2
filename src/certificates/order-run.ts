import { type CaaPermission, findCaaPermission } from '../platform/dns/caa.ts'
import type { DnsResolver } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import type { AccountManager, KeyVault } from './account-manager.ts'
import { type Certificate, newKeyPem } from './certificate.ts'
import {
  type AuthorityAccount,
  AuthorityError,
  type AuthorityOrder,
  type CertificateAuthority,
  type ChallengeType,
  checkIssued,
} from './certificate-authority.ts'
import {
  BudgetExhausted,
  formatBudgetWait,
  LeaseLost,
  type OngoingOrder,
  type OrderPurpose,
} from './certificate-order.ts'
import { type ChallengePolicy, chooseChallenge } from './challenges.ts'
import { chargeOrder } from './order-budgets.ts'
import type { OrderLease, OrderReconciler, OrderStores } from './order-scheduler.ts'

/** How long one run polls an order before it leaves it for a later run. */
const POLL_MICROS_MAX = 30_000_000
const FIRST_POLL_MS = 250
const POLL_INTERVAL_MS_MAX = 4_000
/** How long an order that was left is not due, at least. */
const LATER_MS = 5_000

export type OrderResult =
  | {
      readonly kind: 'issued'
      readonly certificate: Certificate
      readonly challenge: ChallengeType | undefined
    }
  /** To be continued after a while; `failure` is what it waits for, null in the normal course. */
  | { readonly kind: 'later'; readonly afterMicros: number; readonly failure: string | null }
  | { readonly kind: 'failed'; readonly reason: string }

export type OrderRunContext = {
  readonly store: Store<OrderStores>
  readonly clock: Clock
  readonly resolver: Pick<DnsResolver, 'caa'>
  readonly authority: CertificateAuthority
  readonly account: AccountManager
  /** Seals the private keys of certificates. */
  readonly vault: KeyVault
  readonly challenges: ChallengePolicy
  readonly reconciler: Pick<OrderReconciler, 'findOwner'>
  /** Settles after that time, or earlier when the process is stopping. */
  readonly wait: (ms: number) => Promise<void>
}

/** The state of a pending authorization: an error, or when to poll again. */
type AuthorizationProgress = { readonly error?: string; readonly retryAfterMs?: number | undefined }

/**
 * One run of a leased order: starts the order, or continues one that this or another process has started.
 * Each step is committed before the next one depends on it, so that after a crash another process
 * continues with the same order, key and challenge.
 */
export class OrderRun {
  readonly #context: OrderRunContext
  readonly #lease: OrderLease
  readonly #purpose: OrderPurpose
  readonly #replaces: string | undefined
  /** The token of the challenge that this run has responded to. */
  #respondedToken: string | undefined

  /** @param replaces the renewal identifier of the certificate that the order renews */
  constructor(
    context: OrderRunContext,
    lease: OrderLease,
    purpose: OrderPurpose,
    replaces: string | undefined,
  ) {
    this.#context = context
    this.#lease = lease
    this.#purpose = purpose
    this.#replaces = replaces
  }

  /**
   * @throws {AuthorityError} `unavailable`, `rateLimited` or `account`: about the authority, not the host
   * @throws {LeaseLost}
   */
  async run(): Promise<OrderResult> {
    const { authority, account: accounts } = this.#context
    const earlier = this.#lease.ongoing
    const ongoing = earlier?.directory === authority.directory ? earlier : await this.#start()
    if ('kind' in ongoing) return ongoing
    try {
      const account = await accounts.getRegistered()
      await this.#lease.renew()
      return await this.#poll(account, ongoing, await this.#place(account, ongoing))
    } catch (error) {
      const isOfHost = error instanceof AuthorityError && !isOfAuthority(error)
      if (!isOfHost) throw error
      return { kind: 'failed', reason: error.message }
    }
  }

  /** Checks CAA records, charges the budgets, and saves a new order with its private key. */
  async #start(): Promise<OngoingOrder | OrderResult> {
    const { store, clock, authority, vault, reconciler } = this.#context
    const { host, fence } = this.#lease.order
    const caa = await findCaa(this.#context, host)
    if (caa.state === 'forbidden') return { kind: 'failed', reason: formatForbidden(host, caa) }
    const { directory } = authority
    const sealedKey = vault.seal(host, await newKeyPem())
    const started: OngoingOrder = { directory, purpose: this.#purpose, sealedKey, url: null }
    try {
      await store.write(async (stores) => {
        const owner = await reconciler.findOwner(stores, host)
        // The host is no longer active; its row is about to be removed.
        if (owner === undefined) throw new LeaseLost()
        const order = { directory, host, purpose: this.#purpose }
        await chargeOrder(stores, order, owner || undefined, clock.nowMicros())
        const changes = { ongoing: started, challenge: null, queue: 'ready' } as const
        if (!(await stores.certificateOrders.advance(host, fence, changes))) throw new LeaseLost()
      })
      return started
    } catch (error) {
      if (!(error instanceof BudgetExhausted)) throw error
      return { kind: 'later', afterMicros: error.waitMicros, failure: formatBudgetWait(error) }
    }
  }

  /** Places the order with the authority, or reads it if it has been placed already. */
  async #place(account: AuthorityAccount, ongoing: OngoingOrder): Promise<AuthorityOrder> {
    const { authority } = this.#context
    if (ongoing.url !== null) return authority.readOrder(account, ongoing.url)
    const order = await authority.placeOrder(account, this.#lease.order.host, this.#replaces)
    await this.#lease.advance({ ongoing: { ...ongoing, url: order.url } })
    return order
  }

  /**
   * Advances the order and polls it until the certificate is issued, the order fails or time is up.
   */
  async #poll(
    account: AuthorityAccount,
    ongoing: OngoingOrder,
    placed: AuthorityOrder,
  ): Promise<OrderResult> {
    const { authority, vault, clock, wait } = this.#context
    const startedAt = clock.nowMicros()
    const keyPem = vault.open(this.#lease.order.host, ongoing.sealedKey)
    let order = placed
    let polls = 0
    for (;;) {
      await this.#lease.renew()
      const step = await this.#step(account, order, keyPem)
      if ('kind' in step) return step
      const intervalMs = Math.min(POLL_INTERVAL_MS_MAX, FIRST_POLL_MS * 2 ** Math.min(polls, 10))
      const pauseMs = Math.max(step.retryAfterMs ?? 0, intervalMs)
      if (clock.nowMicros() - startedAt + pauseMs * 1_000 > POLL_MICROS_MAX) {
        const afterMicros = Math.max(LATER_MS, pauseMs) * 1_000
        return { kind: 'later', afterMicros, failure: null }
      }
      await wait(pauseMs)
      const next = await authority.readOrder(account, order.url)
      polls = next.status === step.status ? polls + 1 : 0
      order = next
    }
  }

  /** Does what the order's status calls for: proves control, finalizes or downloads. */
  async #step(
    account: AuthorityAccount,
    placed: AuthorityOrder,
    keyPem: string,
  ): Promise<
    | OrderResult
    | { readonly status: AuthorityOrder['status']; readonly retryAfterMs: number | undefined }
  > {
    const { authority } = this.#context
    let order = placed
    let { retryAfterMs } = order
    if (order.status === 'pending') {
      const progress = await this.#authorize(account, order)
      if (progress.error !== undefined) return { kind: 'failed', reason: progress.error }
      retryAfterMs = progress.retryAfterMs ?? retryAfterMs
    } else if (order.status === 'ready') {
      order = await authority.finalize(account, order, this.#lease.order.host, keyPem)
      if (order.status === 'processing') retryAfterMs = order.retryAfterMs
    } else if (order.status === 'invalid') {
      const { error } = await this.#authorize(account, order)
      return { kind: 'failed', reason: order.error ?? error ?? 'the order became invalid' }
    }
    if (order.status === 'valid' && order.certificateUrl !== undefined) {
      const chainPem = await authority.downloadCertificate(account, order.certificateUrl)
      const challenge = this.#lease.challenge?.type
      return { kind: 'issued', certificate: this.#certificateOf(chainPem, keyPem), challenge }
    }
    return { status: order.status, retryAfterMs }
  }

  /** Responds to a challenge of the order's authorization, unless that has been done. */
  async #authorize(
    account: AuthorityAccount,
    order: AuthorityOrder,
  ): Promise<AuthorizationProgress> {
    const { authority, account: accounts, challenges: policy } = this.#context
    const authorization = await authority.readAuthorization(account, order.authorizationUrl)
    const { status, challenges: offered, retryAfterMs } = authorization
    if (status === 'invalid') {
      return {
        error: authorization.error ?? 'the authority could not validate control of the host',
      }
    }
    if (status === 'valid') return {}
    const active = this.#lease.challenge
    const isActive = ({ token, type }: { token: string; type: ChallengeType }) =>
      token === active?.token && type === active.type
    const { challenge: worked } = await accounts.getState()
    const { attempts } = this.#lease.order
    const challenge = offered.find(isActive) ?? chooseChallenge(offered, policy, worked, attempts)
    if (challenge === undefined) {
      return { error: 'the authority offers no challenge of an enabled type' }
    }
    const { type, token, url } = challenge
    const isContinued = isActive(challenge)
    if (!isContinued) {
      const keyAuthorization = await authority.keyAuthorization(account, token)
      await this.#lease.advance({ challenge: { type, token, keyAuthorization } })
    }
    if (challenge.status === 'pending' && this.#respondedToken !== token) {
      this.#respondedToken = token
      await this.#respond(account, url, isContinued)
    }
    return { retryAfterMs }
  }

  /**
   * @param isContinued whether an earlier run may have responded already; the authority may reject
   * a repetition
   */
  async #respond(account: AuthorityAccount, url: string, isContinued: boolean): Promise<void> {
    try {
      await this.#context.authority.respondToChallenge(account, url)
    } catch (error) {
      const isDone = isContinued && error instanceof AuthorityError && error.kind === 'rejected'
      if (!isDone) throw error
    }
  }

  #certificateOf(chainPem: string, keyPem: string): Certificate {
    const { authority, clock } = this.#context
    const { host } = this.#lease.order
    const { directory } = authority
    const life = checkIssued({ host, chainPem, keyPem, now: clock.nowMicros() })
    const ariId = authority.renewalIdOf(chainPem) ?? null
    return { host, chainPem, keyPem, ...life, directory, ariId, renewalWindow: null }
  }
}

/** Whether an error concerns the authority as a whole, not one host. */
function isOfAuthority({ kind }: AuthorityError): boolean {
  return kind === 'unavailable' || kind === 'account' || kind === 'rateLimited'
}

async function findCaa(
  { authority, resolver }: OrderRunContext,
  host: string,
): Promise<CaaPermission> {
  const identities = await authority.caaIdentities()
  return identities.length === 0
    ? { state: 'allowed' }
    : findCaaPermission(resolver, host, identities)
}

function formatForbidden(host: string, { at, allowed }: CaaPermission & { state: 'forbidden' }) {
  return allowed.length === 0
    ? `caa: the CAA records at ${at} forbid certificates for ${host} from every authority`
    : `caa: the CAA records at ${at} allow certificates for ${host} only from ${allowed.join(', ')}`
}
