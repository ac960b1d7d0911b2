import { createSecureContext, type SecureContext } from 'node:tls'
import type { Certificate } from '../domain/certificates/certificate.ts'
import type { Change } from '../domain/changes/change.ts'
import type { ChangeListener } from '../domain/changes/change-listener.ts'
import { SieveCache } from '../lib/sieve-cache.ts'

/** Certificates that are ready to be shown; each takes up to 90 KiB of OpenSSL's memory. */
const CONTEXTS_MAX = 1_000
/** Names without a certificate, kept apart: a flood of them evicts nothing else. */
const ABSENT_MAX = 50_000
/** Between two tries to load what has changed, while the store is away. */
const RETRY_INTERVAL_MS = 1_000

type Entry = {
  readonly context: SecureContext
  /** Of everything in memory, when it was loaded. */
  readonly generation: number
  hasChanged: boolean
  retryAtMs: number
}

/**
 * The certificates to show, by host, loaded when they are first asked for. One that has changed is
 * shown until the new one is loaded, so that no handshake waits or fails because of a renewal; one
 * that was removed goes within the time that it takes to see that.
 */
export class SecureContexts implements ChangeListener {
  readonly #find: (host: string) => Promise<Certificate | undefined>
  readonly #onError: (error: unknown) => void
  readonly #known: SieveCache<Entry>
  readonly #absent = new SieveCache<true>(ABSENT_MAX)
  readonly #loads = new Map<string, Promise<SecureContext | undefined>>()
  #generation = 0
  #isFailing = false

  /**
   * @param options.countMax of certificates in memory
   * @param options.onError told once of a failure to load, until a load succeeds again
   */
  constructor(options: {
    find: (host: string) => Promise<Certificate | undefined>
    onError: (error: unknown) => void
    countMax?: number
  }) {
    this.#known = new SieveCache(options.countMax ?? CONTEXTS_MAX, ({ context }) => free(context))
    this.#find = options.find
    this.#onError = options.onError
  }

  /**
   * At once where it is in memory; undefined for a host without a certificate.
   *
   * @param host as in `Certificate`
   */
  get(host: string): SecureContext | undefined | Promise<SecureContext | undefined> {
    const entry = this.#known.get(host)
    if (entry !== undefined) {
      const isStale = entry.hasChanged || entry.generation !== this.#generation
      if (isStale) this.#reload(host, entry)
      return entry.context
    }
    if (this.#absent.get(host) === true) return undefined
    return this.#loads.get(host) ?? this.#load(host)
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      if (kind !== 'certificate') continue
      // A load that is under way may have read the one before.
      this.#loads.delete(subject)
      this.#absent.delete(subject)
      const entry = this.#known.get(subject)
      if (entry === undefined) continue
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

  #reload(host: string, entry: Entry): void {
    if (this.#loads.has(host) || performance.now() < entry.retryAtMs) return
    entry.retryAtMs = performance.now() + RETRY_INTERVAL_MS
    this.#load(host).catch(() => {})
  }

  #load(host: string): Promise<SecureContext | undefined> {
    const generation = this.#generation
    const load = this.#find(host)
      .then((certificate) => {
        const context = certificate && contextOf(certificate)
        this.#isFailing = false
        if (this.#loads.get(host) === load) this.#keep(host, context, generation)
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

  #keep(host: string, context: SecureContext | undefined, generation: number): void {
    if (context === undefined) {
      this.#known.delete(host)
      this.#absent.set(host, true, 1)
    } else {
      this.#known.set(host, { context, generation, hasChanged: false, retryAtMs: 0 }, 1)
    }
  }
}

/**
 * Gives a context's memory back. Left to itself it would be kept until the old generation of the heap is
 * collected, which does not know how much memory hangs on so small an object, and so hardly ever happens.
 * Connections that use it have their own share of it; those that are about to will have it by then.
 */
function free({ context }: SecureContext): void {
  setImmediate(() => context.close())
}

function contextOf({ chainPem, keyPem }: Certificate): SecureContext {
  return createSecureContext({ cert: chainPem, key: keyPem })
}
