import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import type { Store } from '../platform/database/store.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { AcmeAccount, AcmeAccountStore } from './acme-account-store.ts'
import type { AuthorityError } from './authority-error.ts'
import type {
  AuthorityAccount,
  CertificateAuthority,
  ChallengeType,
} from './certificate-authority.ts'
import type { KeyVault } from './key-vault.ts'
import { pauseMicros } from './order-backoff.ts'

const generate = promisify(generateKeyPair)

/** However many hosts the authority has limited in a row: one workspace may have all of them. */
const LIMITED_PAUSE_MICROS_MAX = 20_000_000

/** A new private key for signatures, PKCS #8 in PEM: P-256, which every authority takes. */
export async function newKeyPem(): Promise<string> {
  const { privateKey } = await generate('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** This instance's one account with the authority, shared by all nodes. */
export type AccountHolder = {
  /** How things stand with the authority; its key is made and kept where there is none yet. */
  stand(): Promise<AcmeAccount>
  /**
   * The account itself, opened with the authority where it is not yet. However often it is tried, and
   * by however many nodes, it is the same one: the authority knows it by its key.
   *
   * @throws {AuthorityError}
   */
  open(): Promise<AuthorityAccount>
  /**
   * Leaves the authority alone after a failure, the longer the more often it failed in a row. False
   * where another order that failed with this one has done so.
   */
  pause(before: AcmeAccount, error: AuthorityError): Promise<boolean>
  /** Writes down that the authority was there for us. */
  noteWell(before: AcmeAccount, challenge: ChallengeType | undefined): Promise<void>
}

export function accountHolder(deps: {
  store: Store<{ readonly acmeAccounts: AcmeAccountStore }>
  clock: Clock
  authority: CertificateAuthority
  /** For nothing but keys of accounts. */
  vault: KeyVault
  /** A number in [0, 1). */
  unit: () => number
}): AccountHolder {
  const { store, clock, authority, vault, unit } = deps
  const { directory } = authority

  async function stand(): Promise<AcmeAccount> {
    const kept = await store.read.acmeAccounts.find(directory)
    if (kept !== undefined) return kept
    const sealedKey = vault.seal(directory, await newKeyPem())
    return store.write(async (stores) => {
      await stores.acmeAccounts.insert(directory, sealedKey, clock.nowMicros())
      const account = await stores.acmeAccounts.find(directory)
      if (account === undefined) throw new Error('an account is gone that was just kept')
      return account
    })
  }

  return {
    stand,

    async open() {
      const { sealedKey, url } = await stand()
      const keyPem = vault.open(directory, sealedKey)
      if (url !== null) return { url, keyPem }
      const opened = await authority.registerAccount(keyPem)
      await store.write((stores) => stores.acmeAccounts.setUrl(directory, opened))
      return { url: opened, keyPem }
    },

    async pause({ failures, url }, error) {
      const now = clock.nowMicros()
      const isForgotten = error.kind === 'account' && url !== null
      // What is asked of one host must hold up the others for seconds only, and tell them nothing of it.
      const isLimited = error.kind === 'rateLimited'
      const grown = pauseMicros(isForgotten ? 1 : failures + 1, unit())
      const waitMicros = isLimited
        ? Math.min(grown, LIMITED_PAUSE_MICROS_MAX)
        : Math.max(grown, (error.retryAfterMs ?? 0) * 1_000)
      const failure = isLimited ? 'the authority asks for fewer orders' : error.message
      return store.write(async (stores) => {
        // Opened anew by the same key, it is the old account where there is one.
        if (isForgotten) await stores.acmeAccounts.setUrl(directory, null)
        const pause = { until: now + waitMicros, failure }
        return stores.acmeAccounts.pause(directory, failures, pause)
      })
    },

    async noteWell({ failures, challenge: before }, challenge) {
      const isNew = challenge !== undefined && challenge !== before
      if (failures === 0 && !isNew) return
      await store.write(async (stores) => {
        await stores.acmeAccounts.resume(directory)
        if (isNew) await stores.acmeAccounts.setChallenge(directory, challenge)
      })
    },
  }
}
