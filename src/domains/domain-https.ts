import type { Actor } from '../identity/index.ts'
import { hostChange } from '../platform/changes/change.ts'
import type { ChangeLog } from '../platform/changes/change-log.ts'
import { isUuid } from '../platform/crypto/uuid.ts'
import type { Store } from '../platform/database/store.ts'
import type { EventWriter } from '../platform/events/event-writer.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion, versionOf } from '../platform/version.ts'
import type { Domain } from './domain.ts'
import { hstsUpdated } from './domain-events.ts'
import type { CertificateLife } from './host-certificate.ts'
import type { DomainStore } from './store/domain-store.ts'
import type { HstsStore } from './store/hsts-store.ts'

/** Two years, which is what browsers ask of names that they are delivered with. */
const MAX_AGE_SECONDS = 63_072_000

/** How a domain stands with HTTPS. */
export type HttpsState = {
  readonly domain: Domain
  /** Null where the service has none for it. */
  readonly certificate: CertificateLife | null
  /** For how many seconds browsers are asked to use HTTPS alone; null where they are not. */
  readonly hstsMaxAge: number | null
}

/** Of domains: their certificates, and whether browsers are asked to use HTTPS alone (RFC 6797). */
export type DomainHttps = {
  /** @throws {Failure} `not_found` */
  get(actor: Actor, id: string): Promise<HttpsState>
  /**
   * @param maxAgeSeconds null to say nothing more; 0 to have browsers forget what they were asked
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   */
  setHsts(
    actor: Actor,
    id: string,
    maxAgeSeconds: number | null,
    expected?: ExpectedVersions,
  ): Promise<HttpsState>
}

/** Names the state of what `setHsts` changes; a renewed certificate is no part of it. */
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

export function domainHttps({
  store,
  clock,
}: {
  store: Store<HttpsStores>
  clock: Clock
}): DomainHttps {
  async function find(
    stores: Pick<HttpsStores, 'domains'>,
    { workspaceId }: Actor,
    id: string,
  ): Promise<Domain> {
    const domain = isUuid(id) ? await stores.domains.findById(workspaceId, id) : undefined
    if (domain === undefined) throw Failure.notFound('Domain')
    return domain
  }

  async function get(actor: Actor, id: string): Promise<HttpsState> {
    const domain = await find(store.read, actor, id)
    const [life, hstsMaxAge] = await Promise.all([
      // That of a host which is another workspace's is not this one's to show.
      domain.status === 'active' ? store.read.certificates.findLife(domain.host) : undefined,
      store.read.hsts.find(id),
    ])
    return { domain, certificate: life ?? null, hstsMaxAge: hstsMaxAge ?? null }
  }

  return {
    get,
    async setHsts(actor, id, maxAgeSeconds, expected) {
      if (maxAgeSeconds !== null && !(maxAgeSeconds >= 0 && maxAgeSeconds <= MAX_AGE_SECONDS)) {
        throw Failure.invalid({ hsts_max_age: [`must be from 0 to ${MAX_AGE_SECONDS}`] })
      }
      await store.write(async (stores) => {
        const domain = await find(stores, actor, id)
        const hstsMaxAge = (await stores.hsts.find(id)) ?? null
        requireVersion(expected, httpsVersion({ domain, hstsMaxAge }))
        if (maxAgeSeconds === null) await stores.hsts.remove(id)
        else await stores.hsts.save(id, maxAgeSeconds)
        const now = clock.nowMicros()
        await stores.changes.append(hostChange(domain.host), now)
        await stores.events.append(actor, hstsUpdated(domain, hstsMaxAge, maxAgeSeconds), now)
      })
      return get(actor, id)
    },
  }
}
