import type { Random } from '../platform/crypto/random.ts'
import { type Sealing, sealing } from '../platform/crypto/sealing.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import { newKeyPem } from './certificate.ts'
import type {
  AuthorityAccount,
  AuthorityError,
  CertificateAuthority,
  ChallengeType,
} from './certificate-authority.ts'
import { pauseMicros } from './certificate-order.ts'
import type { AcmeAccount, AcmeAccountStore } from './store/acme-store.ts'

/** All rate-limited hosts may belong to one workspace, so the pause for the others stays short. */
const RATE_LIMITED_PAUSE_MICROS_MAX = 20_000_000

type AccountStores = { readonly acmeAccounts: AcmeAccountStore }

type AccountManagerDependencies = {
  readonly store: Store<AccountStores>
  readonly clock: Clock
  readonly authority: CertificateAuthority
  /** Seals the keys of accounts, and nothing else. */
  readonly vault: KeyVault
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

/** Manages this instance's account with the authority, which all nodes share. */
export class AccountManager {
  readonly #deps: AccountManagerDependencies

  constructor(deps: AccountManagerDependencies) {
    this.#deps = deps
  }

  /** Returns the stored account. The first call creates its key. */
  async getState(): Promise<AcmeAccount> {
    const { directory } = this.#deps.authority
    const stored = await this.#deps.store.read.acmeAccounts.find(directory)
    if (stored !== undefined) return stored
    const sealedKey = this.#deps.vault.seal(directory, await newKeyPem())
    return this.#deps.store.write(async (stores) => {
      await stores.acmeAccounts.insert(directory, sealedKey, this.#deps.clock.nowMicros())
      const account = await stores.acmeAccounts.find(directory)
      if (account === undefined) throw new Error('the account that was just inserted is missing')
      return account
    })
  }

  /**
   * Returns the account, registered with the authority. Several nodes may register it at the same time
   * and get the same account, because the authority identifies it by its key.
   *
   * @throws {AuthorityError}
   */
  async getRegistered(): Promise<AuthorityAccount> {
    const { directory } = this.#deps.authority
    const { sealedKey, url } = await this.getState()
    const keyPem = this.#deps.vault.open(directory, sealedKey)
    if (url !== null) return { url, keyPem }
    const registered = await this.#deps.authority.registerAccount(keyPem)
    await this.#deps.store.write((stores) => stores.acmeAccounts.setUrl(directory, registered))
    return { url: registered, keyPem }
  }

  /**
   * Pauses all requests to the authority after a failure, longer with each failure in a row.
   *
   * @param before the account as it was before the request that failed
   * @returns false when another order that failed at the same time has started the pause
   */
  async pause({ failures, url }: AcmeAccount, error: AuthorityError): Promise<boolean> {
    const { directory } = this.#deps.authority
    const now = this.#deps.clock.nowMicros()
    const isForgotten = error.kind === 'account' && url !== null
    const isRateLimited = error.kind === 'rateLimited'
    const backoffMicros = pauseMicros(isForgotten ? 1 : failures + 1, this.#deps.random())
    const waitMicros = isRateLimited
      ? Math.min(backoffMicros, RATE_LIMITED_PAUSE_MICROS_MAX)
      : Math.max(backoffMicros, (error.retryAfterMs ?? 0) * 1_000)
    // The message of a rate limit may name a host of another workspace, so it is not stored here.
    const failure = isRateLimited ? 'the authority limits the rate of orders' : error.message
    return this.#deps.store.write(async (stores) => {
      // The next registration with the same key finds the account, or creates it again.
      if (isForgotten) await stores.acmeAccounts.setUrl(directory, null)
      const pause = { until: now + waitMicros, failure }
      return stores.acmeAccounts.pause(directory, failures, pause)
    })
  }

  /**
   * Ends the pause after a request that the authority has answered.
   *
   * @param challenge the type of the challenge that succeeded
   */
  async recordSuccess(
    { failures, challenge: before }: AcmeAccount,
    challenge: ChallengeType | undefined,
  ): Promise<void> {
    const { directory } = this.#deps.authority
    const isNew = challenge !== undefined && challenge !== before
    if (failures === 0 && !isNew) return
    await this.#deps.store.write(async (stores) => {
      await stores.acmeAccounts.resume(directory)
      if (isNew) await stores.acmeAccounts.setChallenge(directory, challenge)
    })
  }
}

/** Seals private keys for storage, each bound to the name that it belongs to. */
export class KeyVault {
  readonly #sealing: Sealing

  /** @param key 32 bytes that nothing else uses */
  constructor(key: Buffer, random: Random) {
    this.#sealing = sealing(key, random)
  }

  seal(name: string, keyPem: string): string {
    return this.#sealing.seal(Buffer.from(keyPem), name).toString('base64')
  }

  /** @throws for a key that was sealed by another vault or for another name */
  open(name: string, sealedKey: string): string {
    const keyPem = this.#sealing.unseal(Buffer.from(sealedKey, 'base64'), name)
    if (keyPem === undefined) throw new Error(`the private key of ${name} cannot be unsealed`)
    return keyPem.toString()
  }
}
