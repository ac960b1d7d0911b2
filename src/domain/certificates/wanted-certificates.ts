import type { Clock } from '../../lib/clock.ts'
import type { Nouns, Store } from '../store.ts'
import { isCertifiable } from './certifiable-host.ts'
import type { Certificates } from './certificates.ts'

/** Hosts that a look for missing and left-over ones takes at a time. */
const SWEEP_BATCH = 200

/** Keeps a row in the store for each host that is to have a certificate, and for no other. */
export type WantedCertificates = {
  /** Whether a host is to have one: the service's own and those that are active. */
  isWanted(stores: Nouns, host: string): Promise<boolean>
  /**
   * Adds the hosts that have become active and forgets those that are not any more, with their
   * certificates.
   */
  reconcile(hosts: readonly string[]): Promise<void>
  /** The same for all hosts: what was missed while nobody looked. */
  reconcileAll(): Promise<void>
}

/** @param deps.isCancelled whether to leave off a look at all hosts */
export function wantedCertificates(deps: {
  store: Store
  clock: Clock
  certificates: Certificates
  serviceHost: string
  isCancelled: () => boolean
}): WantedCertificates {
  const { store, clock, certificates, serviceHost } = deps

  async function isWanted(stores: Nouns, host: string): Promise<boolean> {
    if (!isCertifiable(host)) return false
    return host === serviceHost || (await stores.domains.findActive(host)) !== undefined
  }

  async function reconcileOne(host: string): Promise<void> {
    const [wanted, order] = await Promise.all([
      isWanted(store.read, host),
      store.read.certificateOrders.find(host),
    ])
    if (wanted === (order !== undefined)) return
    await store.write(async (stores) => {
      if (await isWanted(stores, host)) {
        await stores.certificateOrders.want(host, clock.nowMicros())
      } else if (await stores.certificateOrders.remove(host)) {
        await certificates.remove(stores, host)
      }
    })
  }

  return {
    isWanted,

    async reconcile(hosts) {
      for (const host of hosts) await reconcileOne(host)
    },

    async reconcileAll() {
      await reconcileOne(serviceHost)
      const { certificateOrders: orders } = store.read
      for (const look of [orders.missing, orders.leftOver]) {
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
