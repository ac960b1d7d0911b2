import type { Actor } from '../identity/index.ts'
import { isUuid } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion, versionOf } from '../platform/version.ts'
import { type ChangeLog, hostChange } from '../storage/changes.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import { type CertificateLife, type Domain, hstsUpdated } from './domain.ts'
import type { DomainStore, HstsStore } from './store/domain-store.ts'

/** Two years, the value recommended for the HSTS preload list that browsers ship. */
const MAX_AGE_SECONDS = 63_072_000

/** The certificate and the HSTS setting of a domain. */
export type HttpsState = {
  readonly domain: Domain
  /** Null when the service has no certificate for the domain. */
  readonly certificate: CertificateLife | null
  /** The HSTS max-age in seconds; null when the domain sends no HSTS header. */
  readonly hstsMaxAge: number | null
}

/** Identifies the state that `setHsts` changes, for `If-Match`. It excludes the certificate: renewals are not edits. */
export function httpsVersion({ domain, hstsMaxAge }: Omit<HttpsState, 'certificate'>): string {
  return versionOf(domain.id, domain.host, hstsMaxAge)
}

type HttpsStores = {
  readonly domains: DomainStore
  readonly hsts: HstsStore
  readonly changes: ChangeLog
  readonly events: EventWriter
  readonly certificates: { findLife(host: string): Promise<CertificateLife | undefined> }
}

/** The HTTPS settings of domains: their certificates, and HSTS (RFC 6797). */
export class DomainHttps {
  readonly #store: Store<HttpsStores>
  readonly #clock: Clock

  constructor({ store, clock }: { store: Store<HttpsStores>; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** @throws {Failure} `not_found` */
  async get(actor: Actor, id: string): Promise<HttpsState> {
    const { read } = this.#store
    const domain = await getDomain(read, actor, id)
    const [life, hstsMaxAge] = await Promise.all([
      // The certificate of a pending domain's host may belong to another workspace.
      domain.status === 'active' ? read.certificates.findLife(domain.host) : undefined,
      read.hsts.find(id),
    ])
    return { domain, certificate: life ?? null, hstsMaxAge: hstsMaxAge ?? null }
  }

  /**
   * @param maxAgeSeconds null sends no header; 0 ends HSTS in browsers that have seen an earlier value
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   */
  async setHsts(
    actor: Actor,
    id: string,
    maxAgeSeconds: number | null,
    expected?: ExpectedVersions,
  ): Promise<HttpsState> {
    if (maxAgeSeconds !== null && !(maxAgeSeconds >= 0 && maxAgeSeconds <= MAX_AGE_SECONDS)) {
      throw Failure.invalid({
        hsts_max_age: [{ code: 'out_of_range', min: 0, max: MAX_AGE_SECONDS }],
      })
    }
    await this.#store.write(async (stores) => {
      const domain = await getDomain(stores, actor, id)
      const hstsMaxAge = (await stores.hsts.find(id)) ?? null
      requireVersion(expected, httpsVersion({ domain, hstsMaxAge }))
      if (maxAgeSeconds === null) await stores.hsts.remove(id)
      else await stores.hsts.save(id, maxAgeSeconds)
      const now = this.#clock.nowMicros()
      await stores.changes.append(hostChange(domain.host), now)
      await stores.events.append(actor, hstsUpdated(domain, hstsMaxAge, maxAgeSeconds), now)
    })
    return this.get(actor, id)
  }
}

/** @throws {Failure} `not_found` */
async function getDomain(
  stores: Pick<HttpsStores, 'domains'>,
  { workspaceId }: Actor,
  id: string,
): Promise<Domain> {
  const domain = isUuid(id) ? await stores.domains.findById(workspaceId, id) : undefined
  if (domain === undefined) throw Failure.notFound('Domain')
  return domain
}
