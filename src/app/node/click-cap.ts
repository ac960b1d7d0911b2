import type { Logger } from 'pino'
import { ClickCap } from '../../clicks/record/click-cap.ts'
import type { SharedAddress } from '../../clicks/record/click-maker.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { sipKeyOf } from '../../platform/crypto/siphash.ts'
import type { Config } from '../config/read-config.ts'

const SHARED_ADDRESS_INTERVAL_MS = 60 * 60 * 1_000
const SIP_KEY_BYTES = 16

const SHARED_ADDRESS_MESSAGES: Readonly<Record<SharedAddress, string>> = {
  'untrusted proxy': 'visits come through a proxy that TERSE_TRUST_PROXY does not name',
  'private address': 'clicks from a private address are beyond the cap',
}

/** @returns undefined when the configuration sets no cap */
export function openClickCap({ clickCapPerMinute }: Config): ClickCap | undefined {
  if (clickCapPerMinute === 0) return undefined
  return new ClickCap(clickCapPerMinute, sipKeyOf(Buffer.from(systemRandom(SIP_KEY_BYTES))))
}

/** Logs each kind at most once an hour: there may be thousands a second. */
export function sharedAddressReporter(log: Logger): (why: SharedAddress) => void {
  const loggedAtMs = new Map<SharedAddress, number>()
  return (why) => {
    const nowMs = performance.now()
    if (nowMs - (loggedAtMs.get(why) ?? Number.NEGATIVE_INFINITY) < SHARED_ADDRESS_INTERVAL_MS)
      return
    loggedAtMs.set(why, nowMs)
    log.warn(SHARED_ADDRESS_MESSAGES[why])
  }
}
