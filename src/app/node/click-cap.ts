import type { Logger } from 'pino'
import { ClickCap, type SharedAddress, type SharedFrom } from '../../clicks/record/click-maker.ts'
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

/** The addresses of this node's visits that several visitors may share. */
export class SharedAddresses {
  readonly #log: Logger
  readonly #loggedAtMs = new Map<SharedAddress, number>()
  #untrustedProxy: string | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  /** The private address of a proxy that TERSE_TRUST_PROXY does not name, the last one seen. */
  get untrustedProxy(): string | undefined {
    return this.#untrustedProxy
  }

  /** Logs each kind at most once an hour: there may be thousands a second. */
  readonly report = (why: SharedAddress, { address, isPrivate }: SharedFrom): void => {
    // Any visitor can claim to be a proxy; one on a private address is the operator's.
    if (why === 'untrusted proxy' && isPrivate) this.#untrustedProxy = address
    const nowMs = performance.now()
    const loggedAtMs = this.#loggedAtMs.get(why) ?? Number.NEGATIVE_INFINITY
    if (nowMs - loggedAtMs < SHARED_ADDRESS_INTERVAL_MS) return
    this.#loggedAtMs.set(why, nowMs)
    this.#log.warn(SHARED_ADDRESS_MESSAGES[why])
  }
}
