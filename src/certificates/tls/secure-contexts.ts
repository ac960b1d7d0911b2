import { createSecureContext, type SecureContext } from 'node:tls'
import type { CertificateLife } from '../../domains/index.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { COLD_START, type KeptValues, type WarmStart } from '../../platform/cache/warm-start.ts'
import type { Change } from '../../platform/changes/change.ts'
import type { ChangeListener } from '../../platform/changes/change-listener.ts'
import type { Certificate, SealedCertificate } from '../certificate.ts'

/** Certificates that are ready to be shown; each takes up to 90 KiB of OpenSSL's memory. */
const CONTEXTS_MAX = 1_000
/** Names without a certificate, kept apart: a flood of them evicts nothing else. */
const ABSENT_MAX = 50_000
/** Between two tries to load what has changed, while the store is away. */
const RETRY_INTERVAL_MS = 1_000

/** What a handshake is given. */
type Shown = {
  readonly context: SecureContext
  readonly life: CertificateLife
  /** Of everything in memory, when it was loaded. */
  readonly generation: number
  hasChanged: boolean
  retryAtMs: number
}

/**
 * What a copy had of a certificate: opened when somebody asks for it, so that no start waits for
 * that.
 */
type Copied = {
  readonly text: string
  /** As in `Shown`. */
  readonly generation: number
  isUnusable: boolean
}

/**
 * The certificates to show, by host, loaded when they are first asked for. One that has changed is
 * shown until the new one is loaded, so that no handshake waits or fails because of a renewal; one
 * that was removed goes within the time that it takes to see that. The copy never holds one that has
 * changed: what a later process begins with must not be older than its place in the change log.
 */
export class SecureContexts implements ChangeListener {
  readonly #find: (host: string) => Promise<SealedCertificate | undefined>
  readonly #open: (sealed: SealedCertificate) => Certificate
  readonly #kept: KeptValues
  readonly #onError: (error: unknown) => void
  readonly #onUnusable: (host: string, error: unknown) => void
  readonly #known: SieveCache<Shown | Copied>
  readonly #absent = new SieveCache<true>(ABSENT_MAX)
  readonly #loads = new Map<string, Promise<SecureContext | undefined>>()
  #generation = 0
  #isFailing = false

  /**
   * @param options.warmStart keeps what is cached for a later process
   * @param options.countMax of certificates in memory
   * @param options.onError told once of a failure to load, until a load succeeds again
   * @param options.onUnusable told once of each that the copy has damaged, or sealed by another key
   */
  constructor(options: {
    find: (host: string) => Promise<SealedCertificate | undefined>
    open: (sealed: SealedCertificate) => Certificate
    warmStart?: WarmStart | undefined
    onError: (error: unknown) => void
    onUnusable: (host: string, error: unknown) => void
    countMax?: number
  }) {
    this.#kept = (options.warmStart ?? COLD_START).values('certificate')
    this.#known = new SieveCache(options.countMax ?? CONTEXTS_MAX, (entry, host) => {
      if (!isCopied(entry)) free(entry.context)
      this.#kept.drop(host)
    })
    this.#find = options.find
    this.#open = options.open
    this.#onError = options.onError
    this.#onUnusable = options.onUnusable
  }

  /** Fills the cache with what an earlier process kept. Call it before the first handshake. */
  restore(): void {
    const generation = this.#generation
    for (const { name, value } of this.#kept.entries()) {
      this.#known.set(name, { text: value, generation, isUnusable: false }, 1)
    }
  }

  /**
   * At once where it is in memory; undefined for a host without a certificate.
   *
   * @param host as in `Certificate`
   */
  get(host: string): SecureContext | undefined | Promise<SecureContext | undefined> {
    const shown = this.#findShown(host)
    if (shown !== undefined) {
      if (this.#isStale(shown)) this.#reload(host, shown)
      return shown.context
    }
    if (this.#absent.get(host) === true) return undefined
    return this.#loads.get(host) ?? this.#load(host)
  }

  /** Of one that is in memory and can be shown; undefined where that may not be the one in use. */
  findLife(host: string): CertificateLife | undefined {
    const shown = this.#findShown(host)
    return shown === undefined || this.#isStale(shown) ? undefined : shown.life
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      if (kind !== 'certificate') continue
      // A load that is under way may have read the one before.
      this.#loads.delete(subject)
      this.#absent.delete(subject)
      const entry = this.#known.get(subject)
      if (entry === undefined) continue
      if (isCopied(entry)) {
        this.#known.delete(subject)
        continue
      }
      this.#kept.drop(subject)
      entry.hasChanged = true
      entry.retryAtMs = 0
      this.#reload(subject, entry)
    }
  }

  forgetAll(): void {
    this.#generation += 1
    this.#loads.clear()
    this.#absent.clear()
  }

  forgetAbsences(): void {
    this.#absent.clear()
  }

  #isStale({ hasChanged, generation }: Shown): boolean {
    return hasChanged || generation !== this.#generation
  }

  #findShown(host: string): Shown | undefined {
    const entry = this.#known.get(host)
    return entry !== undefined && isCopied(entry) ? this.#useCopied(host, entry) : entry
  }

  #useCopied(host: string, copied: Copied): Shown | undefined {
    if (copied.generation !== this.#generation) this.#known.delete(host)
    else if (!copied.isUnusable) {
      try {
        const certificate: SealedCertificate = { ...JSON.parse(copied.text), host }
        return this.#keep(certificate, this.#contextOf(certificate), copied.generation)
      } catch (error) {
        // It stays in the copy: the key may be the one that is wrong.
        copied.isUnusable = true
        this.#onUnusable(host, error)
      }
    }
    return undefined
  }

  #reload(host: string, shown: Shown): void {
    if (this.#loads.has(host) || performance.now() < shown.retryAtMs) return
    shown.retryAtMs = performance.now() + RETRY_INTERVAL_MS
    this.#load(host).catch(() => {})
  }

  #load(host: string): Promise<SecureContext | undefined> {
    const generation = this.#generation
    const load = this.#find(host)
      .then((certificate) => {
        const context = certificate && this.#contextOf(certificate)
        this.#isFailing = false
        if (this.#loads.get(host) === load) {
          if (certificate === undefined || context === undefined) this.#keepAbsence(host)
          else this.#keep(certificate, context, generation)
        }
        return context
      })
      .catch((error) => {
        if (!this.#isFailing) this.#onError(error)
        this.#isFailing = true
        throw error
      })
      .finally(() => {
        if (this.#loads.get(host) === load) this.#loads.delete(host)
      })
    this.#loads.set(host, load)
    return load
  }

  #keepAbsence(host: string): void {
    this.#known.delete(host)
    this.#absent.set(host, true, 1)
  }

  #keep(certificate: SealedCertificate, context: SecureContext, generation: number): Shown {
    const { host, notBefore, notAfter } = certificate
    const life = { notBefore, notAfter }
    const shown = { context, life, generation, hasChanged: false, retryAtMs: 0 }
    this.#known.set(host, shown, 1)
    // Another form of this text needs another number of the copy's format.
    this.#kept.keep(host, () => JSON.stringify(certificate))
    return shown
  }

  #contextOf(certificate: SealedCertificate): SecureContext {
    const { chainPem, keyPem } = this.#open(certificate)
    return createSecureContext({ cert: chainPem, key: keyPem })
  }
}

function isCopied(entry: Shown | Copied): entry is Copied {
  return 'text' in entry
}

/**
 * Gives a context's memory back. Left to itself it would be kept until the old generation of the heap is
 * collected, which does not know how much memory hangs on so small an object, and so hardly ever happens.
 * Connections that use it have their own share of it; those that are about to will have it by then.
 */
function free({ context }: SecureContext): void {
  setImmediate(() => context.close())
}
