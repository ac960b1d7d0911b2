import { setTimeout as sleep } from 'node:timers/promises'
import type { FullStore } from '../../src/app/database/stores.ts'
import { KeyVault } from '../../src/certificates/account-manager.ts'
import { type AcmeOptions, acmeAuthority } from '../../src/certificates/acme/acme-authority.ts'
import type { CertificateAuthority } from '../../src/certificates/certificate-authority.ts'
import { CertificateOrders } from '../../src/certificates/certificate-orders.ts'
import { Certificates } from '../../src/certificates/certificates.ts'
import {
  type ChallengeAnswers,
  type ChallengePolicy,
  storedChallengeAnswers,
} from '../../src/certificates/challenges.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import type { DnsResolver } from '../../src/platform/dns/dns-resolver.ts'
import type { Clock } from '../../src/platform/time/clock.ts'
import { type FakeDns, fakeDns } from './fake-dns.ts'
import { type Pebble, trustOf } from './pebble.ts'

const POLL_MS = 20

export const SERVICE_HOST = 'service.test'

/** The certificate work of one node, over a store, with a clock that a test may hold. */
export type OrderNode = {
  readonly orders: CertificateOrders
  readonly certificates: Certificates
  readonly answers: ChallengeAnswers
  readonly dns: FakeDns
  /** What it has reported so far, one line each. */
  readonly log: readonly string[]
  /** Works until no order is due or running. */
  runDue(): Promise<void>
}

export type OrderNodeOptions = {
  readonly store: FullStore
  readonly clock: Clock
  /** The real authority; undefined where `authority` is given. */
  readonly pebble?: Pebble
  /** Replaces the real authority. */
  readonly authority?: CertificateAuthority
  readonly acme?: Partial<AcmeOptions>
  readonly challenges?: ChallengePolicy
  readonly serviceHost?: string
  readonly resolver?: Pick<DnsResolver, 'caa'>
  /** Wraps the authority. */
  readonly around?: (authority: CertificateAuthority) => CertificateAuthority
}

export function orderNode(options: OrderNodeOptions): OrderNode {
  const { store, clock, around = (authority) => authority } = options
  const log: string[] = []
  const dns = fakeDns()
  const vault = new KeyVault(Buffer.alloc(32, 7), systemRandom)
  const kept = new Certificates({ store, vault, clock })
  const authority = options.authority ?? realAuthority(options)
  let ended = 0
  const orders = new CertificateOrders({
    store,
    clock,
    resolver: dns,
    authority: around(authority),
    certificates: kept,
    keyVault: vault,
    accountVault: new KeyVault(Buffer.alloc(32, 8), systemRandom),
    challenges: options.challenges ?? 'auto',
    serviceHost: options.serviceHost ?? SERVICE_HOST,
    // An authority on this machine is faster than one that validates for many.
    wait: (ms) => sleep(Math.min(ms, POLL_MS)),
    random: () => 0.5,
    onIssued: (host) => log.push(`issued ${host}`),
    onFailed: (host, reason) => log.push(`failed ${host}: ${reason}`),
    onUnavailable: (_, reason) => log.push(`away: ${reason}`),
    onRoom: () => {
      ended += 1
    },
    onError: (error) => log.push(`error: ${error instanceof Error ? error.stack : error}`),
  })
  return {
    orders,
    certificates: kept,
    answers: storedChallengeAnswers(store.read.certificateOrders, clock),
    dns,
    log,
    async runDue() {
      for (let before = -1; before !== ended; ) {
        before = ended
        try {
          await orders.startDue()
        } finally {
          // Some may have started before the store failed.
          await orders.settled()
        }
      }
    },
  }
}

function realAuthority({ pebble, clock, acme }: OrderNodeOptions): CertificateAuthority {
  if (pebble === undefined) throw new Error('there is no authority')
  return acmeAuthority({
    directory: pebble.directory,
    email: undefined,
    external: undefined,
    trusted: trustOf(pebble),
    profile: undefined,
    clock,
    ...acme,
  })
}
