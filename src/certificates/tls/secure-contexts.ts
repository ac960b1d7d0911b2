import { createSecureContext, type SecureContext } from 'node:tls'
import type { CertificateLife } from '../../domains/index.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import type { Change, ChangeListener } from '../../storage/changes.ts'
import { COLD_START, type KeptValues, type WarmStart } from '../../storage/coherent-cache.ts'
import type { Certificate, SealedCertificate } from '../certificate.ts'

/** Each context takes up to 90 KiB of OpenSSL's memory. */
const CONTEXTS_MAX = 1_000
/**
 * Hosts without a certificate have a cache of their own, so that a flood of them evicts no context.
 */
const ABSENT_MAX = 50_000
/** Between two attempts to reload a context while the store is unavailable. */
const RETRY_INTERVAL_MS = 1_000

/** A context that handshakes can use. */
type Loaded = {
  readonly context: SecureContext
  readonly life: CertificateLife
  /** The generation of the cache in which it was loaded. An older one makes it stale. */
  readonly generation: number
  hasChanged: boolean
  retryAtMs: number
}

/**
 * A certificate from an earlier process, parsed at its first use so that it does not delay the
 * start.
 */
type Restored = {
  readonly text: string
  /** As in `Loaded`. */
  readonly generation: number
  isUnusable: boolean
}

/**
 * Caches the TLS contexts of hosts, loaded at the first handshake. After a change the old context is used
 * until the new one is loaded, so that no handshake waits for or fails by a renewal; a removed certificate
 * is dropped as soon as the reload finds it missing. The warm start never holds a certificate that has
 * changed, because a later process must not start with one that is older than its place in the change log.
 */
export class SecureContexts implements ChangeListener {
  readonly #find: (host: string) => Promise<SealedCertificate | undefined>
  readonly #open: (sealed: SealedCertificate) => Certificate
  readonly #kept: KeptValues
  readonly #onError: (error: unknown) => void
  readonly #onUnusable: (host: string, error: unknown) => void
  readonly #known: SieveCache<Loaded | Restored>
  readonly #absent = new SieveCache<true>(ABSENT_MAX)
  readonly #loads = new Map<string, Promise<SecureContext | undefined>>()
  #generation = 0
  #isFailing = false

  /**
   * @param options.warmStart keeps what is cached for a later process
   * @param options.countMax how many contexts are cached
   * @param options.onError called for the first of several failures to load in a row
   * @param options.onUnusable called once for each restored certificate that is damaged or was sealed with
   *   another key
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
      if (!isRestored(entry)) free(entry.context)
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
   * Returns a host's context, synchronously when it is cached; undefined for a host without a certificate.
   *
   * @param host as in `Certificate`
   */
  get(host: string): SecureContext | undefined | Promise<SecureContext | undefined> {
    const loaded = this.#findLoaded(host)
    if (loaded !== undefined) {
      if (this.#isStale(loaded)) this.#reload(host, loaded)
      return loaded.context
    }
    if (this.#absent.get(host) === true) return undefined
    return this.#loads.get(host) ?? this.#load(host)
  }

  /**
   * Returns the validity of a cached certificate; undefined when it is not cached or may be
   * outdated.
   */
  findLife(host: string): CertificateLife | undefined {
    const loaded = this.#findLoaded(host)
    return loaded === undefined || this.#isStale(loaded) ? undefined : loaded.life
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      if (kind !== 'certificate') continue
      // A load in progress may have read the previous certificate.
      this.#loads.delete(subject)
      this.#absent.delete(subject)
      const entry = this.#known.get(subject)
      if (entry === undefined) continue
      if (isRestored(entry)) {
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

  #isStale({ hasChanged, generation }: Loaded): boolean {
    return hasChanged || generation !== this.#generation
  }

  #findLoaded(host: string): Loaded | undefined {
    const entry = this.#known.get(host)
    return entry !== undefined && isRestored(entry) ? this.#useRestored(host, entry) : entry
  }

  #useRestored(host: string, restored: Restored): Loaded | undefined {
    if (restored.generation !== this.#generation) this.#known.delete(host)
    else if (!restored.isUnusable) {
      try {
        const certificate: SealedCertificate = { ...JSON.parse(restored.text), host }
        return this.#keep(certificate, this.#contextOf(certificate), restored.generation)
      } catch (error) {
        // It is kept for a later start: the secret key may be the wrong one.
        restored.isUnusable = true
        this.#onUnusable(host, error)
      }
    }
    return undefined
  }

  #reload(host: string, loaded: Loaded): void {
    if (this.#loads.has(host) || performance.now() < loaded.retryAtMs) return
    loaded.retryAtMs = performance.now() + RETRY_INTERVAL_MS
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

  #keep(certificate: SealedCertificate, context: SecureContext, generation: number): Loaded {
    const { host, notBefore, notAfter } = certificate
    const life = { notBefore, notAfter }
    const loaded = { context, life, generation, hasChanged: false, retryAtMs: 0 }
    this.#known.set(host, loaded, 1)
    // A change of this format needs a new version of the warm start's format.
    this.#kept.keep(host, () => JSON.stringify(certificate))
    return loaded
  }

  #contextOf(certificate: SealedCertificate): SecureContext {
    const { chainPem, keyPem } = this.#open(certificate)
    return createSecureContext({ cert: chainPem, key: keyPem })
  }
}

function isRestored(entry: Loaded | Restored): entry is Restored {
  return 'text' in entry
}

/**
 * Frees a context's memory in OpenSSL. The garbage collector sees only a small object and would keep it
 * for long. Open connections hold references of their own; handshakes of this turn of the event loop get
 * theirs before `setImmediate` runs.
 */
function free({ context }: SecureContext): void {
  setImmediate(() => context.close())
}
