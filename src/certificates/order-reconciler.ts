import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import { isCertifiable } from './certificate-need.ts'
import type { CertificateStores, Certificates } from './certificates.ts'
import type { CertificateOrderStore } from './store/certificate-order-store.ts'

/** Hosts that `reconcileAll` reads at a time. */
const BATCH_SIZE = 200

/** Where the workspace in which a host is active is looked up. */
type OwnerStores = {
  readonly domains: {
    findActive(host: string): Promise<{ readonly workspace_id: string } | undefined>
  }
}

export type ReconcilerStores = OwnerStores &
  CertificateStores & { readonly certificateOrders: CertificateOrderStore }

/** Keeps one row in the store of orders for each host that should have a certificate. */
export class OrderReconciler {
  readonly #store: Store<ReconcilerStores>
  readonly #clock: Clock
  readonly #certificates: Certificates
  readonly #serviceHost: string
  readonly #isCancelled: () => boolean

  /** @param options.isCancelled makes `reconcileAll` stop after the current batch */
  constructor(options: {
    store: Store<ReconcilerStores>
    clock: Clock
    certificates: Certificates
    serviceHost: string
    isCancelled: () => boolean
  }) {
    this.#store = options.store
    this.#clock = options.clock
    this.#certificates = options.certificates
    this.#serviceHost = options.serviceHost
    this.#isCancelled = options.isCancelled
  }

  /**
   * Returns the workspace in which a host is active; empty for the service's own host, undefined for a
   * host that should have no certificate.
   */
  async findOwner(stores: OwnerStores, host: string): Promise<string | undefined> {
    if (!isCertifiable(host)) return undefined
    return host === this.#serviceHost ? '' : (await stores.domains.findActive(host))?.workspace_id
  }

  /**
   * Adds hosts that have become active, moves those that have become active in another workspace, and
   * removes those that are no longer active, with their certificates.
   */
  async reconcile(hosts: readonly string[]): Promise<void> {
    for (const host of hosts) await this.#reconcileHost(host)
  }

  /** Reconciles all hosts, in case a change was missed. */
  async reconcileAll(): Promise<void> {
    await this.#reconcileHost(this.#serviceHost)
    const { certificateOrders: orders } = this.#store.read
    for (const find of [orders.findMissing, orders.findOutdated]) {
      let after: string | undefined = ''
      while (after !== undefined && !this.#isCancelled()) {
        const hosts: readonly string[] = await find(after, BATCH_SIZE)
        await this.reconcile(hosts)
        after = hosts.at(-1)
      }
    }
  }

  async #reconcileHost(host: string): Promise<void> {
    const [owner, order] = await Promise.all([
      this.findOwner(this.#store.read, host),
      this.#store.read.certificateOrders.find(host),
    ])
    if (owner === order?.workspaceId) return
    await this.#store.write(async (stores) => {
      const workspaceId = await this.findOwner(stores, host)
      const now = this.#clock.nowMicros()
      if (workspaceId !== undefined) {
        const queue = host === this.#serviceHost ? 'ready' : 'new'
        await stores.certificateOrders.add(host, { workspaceId, queue }, now)
        await stores.certificateOrders.assign(host, workspaceId, now)
      } else if (await stores.certificateOrders.remove(host)) {
        await this.#certificates.remove(stores, host)
      }
    })
  }
}
