import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Store } from '../platform/database/store.ts'
import { type CaaPermission, findCaaPermission } from '../platform/dns/caa.ts'
import type { DnsResolver } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type AccountHolder, newKeyPem } from './account-holder.ts'
import { AuthorityError } from './authority-error.ts'
import { BudgetSpent, waitText } from './budget.ts'
import type { Certificate } from './certificate.ts'
import type {
  AuthorityAccount,
  AuthorityOrder,
  CertificateAuthority,
  ChallengeType,
} from './certificate-authority.ts'
import type { OngoingOrder, OrderPurpose } from './certificate-order.ts'
import { type ChallengePolicy, chooseChallenge } from './challenge-choice.ts'
import type { HeldOrder } from './held-order.ts'
import type { KeyVault } from './key-vault.ts'
import { LeaseLost } from './lease-lost.ts'
import { chargeOrder } from './order-budgets.ts'
import type { OrderStores } from './order-stores.ts'
import type { WantedCertificates } from './wanted-certificates.ts'

/** How long an order is followed before its turn comes again later. */
const FOLLOW_MICROS = 30_000_000
const FIRST_POLL_MS = 250
const POLL_MS_MAX = 4_000
/** When an order is looked at again that the authority is still at work on. */
const LATER_MS = 5_000

/** What came of an order that was worked on. */
export type OrderResult =
  | {
      readonly kind: 'issued'
      readonly certificate: Certificate
      readonly challenge: ChallengeType | undefined
    }
  /** It goes on after a while; `failure` says what it waits for, where that is worth telling. */
  | { readonly kind: 'later'; readonly afterMicros: number; readonly failure: string | null }
  | { readonly kind: 'failed'; readonly reason: string }

export type OrderRunOptions = {
  readonly store: Store<OrderStores>
  readonly clock: Clock
  readonly resolver: Pick<DnsResolver, 'caa'>
  readonly authority: CertificateAuthority
  readonly account: AccountHolder
  /** For the private keys of certificates. */
  readonly vault: KeyVault
  readonly challenges: ChallengePolicy
  readonly findOwner: WantedCertificates['findOwner']
  /** Settles after that time, or sooner when all is to end. */
  readonly wait: (ms: number) => Promise<void>
}

/**
 * Places an order, or goes on with the one that this process or another has begun, as far as it comes.
 * Each step is in the store before the next one builds on it, so that whoever goes on after a crash
 * finds the order, its key, and what has been answered.
 *
 * @throws {AuthorityError} `away`, `limited`, `account`
 * @throws {LeaseLost}
 */
export async function runOrder(
  options: OrderRunOptions,
  held: HeldOrder,
  purpose: OrderPurpose,
  replaces: string | undefined,
): Promise<OrderResult> {
  const { store, clock, authority, vault, wait } = options
  const { host, attempts } = held.lease
  /** That of the challenge of which this run has said that its answer is in place. */
  let begunToken: string | undefined

  async function begin(): Promise<OngoingOrder | OrderResult> {
    const caa = await findCaa(options, host)
    if (caa.state === 'forbidden') return { kind: 'failed', reason: forbiddenText(host, caa) }
    const sealedKey = vault.seal(host, await newKeyPem())
    const { directory } = authority
    const begun: OngoingOrder = { directory, purpose, sealedKey, url: null }
    try {
      await store.write(async (stores) => {
        const owner = await options.findOwner(stores, host)
        // No longer active: its row is about to go.
        if (owner === undefined) throw new LeaseLost()
        const order = { directory, host, purpose }
        await chargeOrder(stores, order, owner || undefined, clock.nowMicros())
        const changes = { ongoing: begun, challenge: null, queue: 'ready' } as const
        const { fence } = held.lease
        if (!(await stores.certificateOrders.advance(host, fence, changes))) throw new LeaseLost()
      })
      return begun
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
      return { kind: 'later', afterMicros: error.waitMicros, failure: waitText(error) }
    }
  }

  /** The order as it stands with the authority, placed there where it was not yet. */
  async function place(account: AuthorityAccount, ongoing: OngoingOrder): Promise<AuthorityOrder> {
    if (ongoing.url !== null) return authority.readOrder(account, ongoing.url)
    const order = await authority.placeOrder(account, host, replaces)
    await held.advance({ ongoing: { ...ongoing, url: order.url } })
    return order
  }

  /** Answers a challenge unless it is answered; what stands in the way, if anything does. */
  async function prove(account: AuthorityAccount, order: AuthorityOrder): Promise<Progress> {
    const authorization = await authority.readAuthorization(account, order.authorizationUrl)
    if (authorization.status === 'invalid') {
      return { fault: authorization.error ?? 'the authority could not see that the host is ours' }
    }
    if (authorization.status === 'valid') return {}
    const posed = held.challenge()
    const { challenge: worked } = await options.account.stand()
    const challenge =
      authorization.challenges.find(({ token, type }) => {
        return token === posed?.token && type === posed.type
      }) ?? chooseChallenge(authorization.challenges, options.challenges, worked, attempts)
    if (challenge === undefined) {
      return { fault: 'the authority offers no challenge that is to be answered here' }
    }
    const { type, token, url, status } = challenge
    const isPosed = token === posed?.token && type === posed.type
    if (!isPosed) {
      const keyAuthorization = await authority.keyAuthorization(account, token)
      await held.advance({ challenge: { type, token, keyAuthorization } })
    }
    if (status === 'pending' && begunToken !== token) {
      begunToken = token
      await respondToChallenge(account, url, isPosed)
    }
    return { retryAfterMs: authorization.retryAfterMs }
  }

  /** @param isRepeated whether a process before may have done it: then it need not be possible */
  async function respondToChallenge(
    account: AuthorityAccount,
    url: string,
    isRepeated: boolean,
  ): Promise<void> {
    try {
      await authority.respondToChallenge(account, url)
    } catch (error) {
      const isDone = isRepeated && error instanceof AuthorityError && error.kind === 'rejected'
      if (!isDone) throw error
    }
  }

  async function follow(
    account: AuthorityAccount,
    ongoing: OngoingOrder,
    placed: AuthorityOrder,
  ): Promise<OrderResult> {
    const startedAt = clock.nowMicros()
    const keyPem = vault.open(host, ongoing.sealedKey)
    let order = placed
    let polls = 0
    for (;;) {
      await held.keep()
      let { retryAfterMs } = order
      if (order.status === 'pending') {
        const progress = await prove(account, order)
        if (progress.fault !== undefined) return { kind: 'failed', reason: progress.fault }
        retryAfterMs = progress.retryAfterMs ?? retryAfterMs
      } else if (order.status === 'ready') {
        order = await authority.finalize(account, order, host, keyPem)
        if (order.status === 'processing') retryAfterMs = order.retryAfterMs
      } else if (order.status === 'invalid') {
        const { fault } = await prove(account, order)
        return { kind: 'failed', reason: order.error ?? fault ?? 'the order became invalid' }
      }
      if (order.status === 'valid' && order.certificateUrl !== undefined) {
        const chainPem = await authority.downloadCertificate(account, order.certificateUrl)
        const challenge = held.challenge()?.type
        return { kind: 'issued', certificate: accept(chainPem, keyPem), challenge }
      }
      const pauseMs = Math.max(
        retryAfterMs ?? 0,
        Math.min(POLL_MS_MAX, FIRST_POLL_MS * 2 ** Math.min(polls, 10)),
      )
      if (clock.nowMicros() - startedAt + pauseMs * 1_000 > FOLLOW_MICROS) {
        const afterMicros = Math.max(LATER_MS, pauseMs) * 1_000
        return { kind: 'later', afterMicros, failure: null }
      }
      await wait(pauseMs)
      const next = await authority.readOrder(account, order.url)
      polls = next.status === order.status ? polls + 1 : 0
      order = next
    }
  }

  /** @throws {AuthorityError} for a certificate that is of no use here */
  function accept(chainPem: string, keyPem: string): Certificate {
    const fail = (reason: string) =>
      new AuthorityError('rejected', `the authority issued a certificate ${reason}`)
    let leaf: X509Certificate
    try {
      leaf = new X509Certificate(chainPem)
    } catch {
      throw fail('that cannot be read')
    }
    if (!leaf.checkPrivateKey(createPrivateKey(keyPem))) throw fail('for another key')
    if (leaf.checkHost(host, { subject: 'never' }) === undefined) throw fail('for another host')
    const [notBefore, notAfter] = [leaf.validFromDate, leaf.validToDate].map(
      (date) => date.getTime() * 1_000,
    )
    if (notBefore === undefined || notAfter === undefined || notAfter <= clock.nowMicros()) {
      throw fail('that has ended')
    }
    return {
      host,
      chainPem,
      keyPem,
      notBefore,
      notAfter,
      directory: authority.directory,
      ariId: authority.renewalIdOf(chainPem) ?? null,
      renewalWindow: null,
    }
  }

  const earlier = held.ongoing()
  const begun = earlier?.directory === authority.directory ? earlier : await begin()
  if ('kind' in begun) return begun
  try {
    const account = await options.account.open()
    await held.keep()
    return await follow(account, begun, await place(account, begun))
  } catch (error) {
    const isOurs = error instanceof AuthorityError && !isOfAuthority(error)
    if (!isOurs) throw error
    return { kind: 'failed', reason: error.message }
  }
}

/** What a look at an authorization showed: what is wrong, or when to look again. */
type Progress = { readonly fault?: string; readonly retryAfterMs?: number | undefined }

/** Whether the trouble is with the authority as a whole, not with one host. */
function isOfAuthority({ kind }: AuthorityError): boolean {
  return kind === 'unavailable' || kind === 'account' || kind === 'rateLimited'
}

async function findCaa(
  { authority, resolver }: OrderRunOptions,
  host: string,
): Promise<CaaPermission> {
  const identities = await authority.caaIdentities()
  return identities.length === 0
    ? { state: 'allowed' }
    : findCaaPermission(resolver, host, identities)
}

function forbiddenText(host: string, { at, allowed }: CaaPermission & { state: 'forbidden' }) {
  const others = allowed.length === 0 ? 'nobody' : allowed.join(', ')
  return `caa: the CAA records at ${at} allow certificates for ${host} from ${others} alone`
}
