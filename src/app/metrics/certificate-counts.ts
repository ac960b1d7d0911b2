import type { Instance } from '../instance/instance.ts'

/** A certificate that expires within this time should have been renewed long ago. */
const EXPIRING_MICROS = 7 * 24 * 60 * 60 * 1_000_000

/** Returns the number of hosts by the state of their certificate; `failing`: the last order failed. */
export async function countCertificates({ store, clock }: Pick<Instance, 'store' | 'clock'>) {
  const { certificates, certificateOrders } = store.read
  const now = clock.nowMicros()
  const [expired, soon, all, failing] = await Promise.all([
    certificates.countEndingBefore(now),
    certificates.countEndingBefore(now + EXPIRING_MICROS),
    certificates.countEndingBefore(Number.MAX_SAFE_INTEGER),
    certificateOrders.countFailing(),
  ])
  return { expired, expiring: soon - expired, valid: all - soon, failing }
}
