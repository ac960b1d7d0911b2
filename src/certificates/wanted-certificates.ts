import type { Store } from '../platform/database/store.ts'
import type { Clock } from '../platform/time/clock.ts'
import { isCertifiable } from './certifiable-host.ts'
import type { CertificateOrderStore } from './certificate-order-store.ts'
import type { CertificateStores, Certificates } from './certificates.ts'

/** Hosts that a look for missing and left-over ones takes at a time. */
const SWEEP_BATCH = 200

/** What says in which workspace a host is active. */
type OwnerStores = {
  readonly domains: {
    findActive(host: string): Promise<{ readonly workspace_id: string } | undefined>
  }
}

export type WantedStores = OwnerStores &
  CertificateStores & { readonly certificateOrders: CertificateOrderStore }

/** Keeps a row in the store for each host that is to have a certificate, and for no other. */
export type WantedCertificates = {
  /**
   * The workspace that a host's certificate is for: that in which it is active; empty for the service's
   * own host, undefined for one that is to have none.
   */
  findOwner(stores: OwnerStores, host: string): Promise<string | undefined>
  /**
   * Adds the hosts that have become active, gives those that are active in another workspace by now to
   * that one, and forgets those that are not active any more, with their certificates.
   */
  reconcile(hosts: readonly string[]): Promise<void>
  /** The same for all hosts: what was missed while nobody looked. */
  reconcileAll(): Promise<void>
}

/** @param deps.isCancelled whether to leave off a look at all hosts */
export function wantedCertificates(deps: {
  store: Store<WantedStores>
  clock: Clock
  certificates: Certificates
  serviceHost: string
  isCancelled: () => boolean
}): WantedCertificates {
  const { store, clock, certificates, serviceHost } = deps

  async function findOwner(stores: OwnerStores, host: string): Promise<string | undefined> {
    if (!isCertifiable(host)) return undefined
    return host === serviceHost ? '' : (await stores.domains.findActive(host))?.workspace_id
  }

  async function reconcileOne(host: string): Promise<void> {
    const [owner, order] = await Promise.all([
      findOwner(store.read, host),
      store.read.certificateOrders.find(host),
    ])
    if (owner === order?.workspaceId) return
    await store.write(async (stores) => {
      const workspaceId = await findOwner(stores, host)
      const now = clock.nowMicros()
      if (workspaceId !== undefined) {
        const queue = host === serviceHost ? 'ready' : 'new'
        await stores.certificateOrders.add(host, { workspaceId, queue }, now)
        await stores.certificateOrders.assign(host, workspaceId, now)
      } else if (await stores.certificateOrders.remove(host)) {
        await certificates.remove(stores, host)
      }
    })
  }

  return {
    findOwner,

    async reconcile(hosts) {
      for (const host of hosts) await reconcileOne(host)
    },

    async reconcileAll() {
      await reconcileOne(serviceHost)
      const { certificateOrders: orders } = store.read
      for (const look of [orders.findMissing, orders.findOutdated]) {
        let after: string | undefined = ''
        while (after !== undefined && !deps.isCancelled()) {
          const hosts: readonly string[] = await look(after, SWEEP_BATCH)
          for (const host of hosts) await reconcileOne(host)
          after = hosts.at(-1)
        }
      }
    },
  }
}
