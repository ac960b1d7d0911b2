import type { CertificateLife } from '../../domains/index.ts'
import { CoherentCache } from '../../platform/cache/coherent-cache.ts'
import type { Change } from '../../platform/changes/change.ts'
import type { ChangeListener } from '../../platform/changes/change-listener.ts'
import type { RequestTarget } from '../../platform/http/request-target.ts'
import type { Clock } from '../../platform/time/clock.ts'

const HOSTS_MAX = 50_000

/**
 * Sends who comes over plain HTTP on to HTTPS, on every host that has a certificate which counts now.
 * Any other host goes on answering over plain HTTP: there is nowhere to send its visitors.
 */
export class HttpsUpgrade implements ChangeListener {
  readonly #lives: CoherentCache<CertificateLife>
  readonly #clock: Clock
  readonly #port: string

  /** @param options.port at which visitors reach HTTPS; empty for 443 */
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
   * Where the request is to go instead, at once where that is in memory; undefined where it stays.
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
   * Nothing: on a host that is not known to have a certificate, plain HTTP is the better answer.
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
