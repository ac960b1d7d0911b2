import type { CertificateLife } from '../../domains/index.ts'
import type { RequestTarget } from '../../platform/http/request-target.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Change, ChangeListener } from '../../storage/changes.ts'
import { CoherentCache } from '../../storage/coherent-cache.ts'

const HOSTS_MAX = 50_000

/**
 * Decides which plain HTTP requests are redirected to HTTPS: those to hosts with a certificate that is
 * valid now. Other hosts are served over plain HTTP.
 */
export class HttpsUpgrade implements ChangeListener {
  readonly #lives: CoherentCache<CertificateLife>
  readonly #clock: Clock
  readonly #port: string

  /** @param options.port the public port of HTTPS; empty for 443 */
  constructor(options: {
    findLife: (host: string) => Promise<CertificateLife | undefined>
    clock: Clock
    port: string
  }) {
    this.#lives = new CoherentCache({
      sizeMax: HOSTS_MAX,
      sizeOf: () => 1,
      load: options.findLife,
    })
    this.#clock = options.clock
    this.#port = options.port === '' ? '' : `:${options.port}`
  }

  /**
   * Returns the location to redirect to, synchronously for a cached host; undefined to serve the request
   * over plain HTTP.
   */
  locationOf(target: RequestTarget): string | undefined | Promise<string | undefined> {
    const life = this.#lives.get(target.host)
    return life instanceof Promise
      ? life.then((loaded) => this.#locationFor(loaded, target))
      : this.#locationFor(life, target)
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      if (kind === 'certificate') this.#lives.renew(subject)
    }
  }

  forgetAll(): void {
    this.#lives.forgetAll()
  }

  /**
   * Does nothing. A host without a known certificate is served over plain HTTP even while the store is
   * unavailable.
   */
  forgetAbsences(): void {}

  #locationFor(
    life: CertificateLife | undefined,
    { host, path, query }: RequestTarget,
  ): string | undefined {
    if (life === undefined) return undefined
    const now = this.#clock.nowMicros()
    if (now < life.notBefore || now >= life.notAfter) return undefined
    return `https://${host}${this.#port}${path}${query === '' ? '' : `?${query}`}`
  }
}
