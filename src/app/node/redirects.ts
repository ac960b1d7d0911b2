import type { Logger } from 'pino'
import type { ClickRecorder } from '../../clicks/click.ts'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import { type ClickLimits, LeasedClicks } from '../../clicks/limits/click-limits.ts'
import {
  ClickCap,
  clickMaker,
  type SharedAddress,
  type SharedFrom,
  visitorFacts,
} from '../../clicks/record/click-maker.ts'
import type { Places } from '../../clicks/record/places.ts'
import { VisitorSalts } from '../../clicks/record/visitor-salts.ts'
import { visitTokens } from '../../conversions/token.ts'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { type LinkHost, OEMBED_PATH } from '../../links/index.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { sipKeyOf } from '../../platform/crypto/siphash.ts'
import { isServiceHost } from '../../platform/http/request-target.ts'
import type { LinkFinder } from '../../redirects/find-link.ts'
import { RedirectHandler } from '../../redirects/handler.ts'
import { MachineVisits } from '../../redirects/machine-visits.ts'
import { passwordCookies } from '../../redirects/password.ts'
import { variantCookies } from '../../redirects/variant-cookies.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import { type AppContext, logUnexpected, vaultOf } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import type { NodeCaches } from './caches.ts'

export function openRedirect(
  context: AppContext,
  finder: LinkFinder,
  recorder: ClickRecorder,
  limits: ClickLimits,
  clicks: {
    readonly salts: VisitorSalts
    readonly places: Places
    readonly cap: ClickCap | undefined
    readonly sharedAddresses: SharedAddresses
  },
): RedirectHandler {
  const { config, instance, log, serviceHost, throttles } = context
  const { clock, instanceKey } = instance
  return new RedirectHandler({
    finder,
    recorder,
    limits,
    machines: new MachineVisits(config.scannerNetworks),
    makeClick: clickMaker({ ...clicks, onSharedAddress: clicks.sharedAddresses.report }),
    vault: vaultOf(context),
    visitorFacts: visitorFacts(clicks),
    cookies: passwordCookies(deriveKey(instanceKey, 'password-cookie')),
    variantCookies: variantCookies(deriveKey(instanceKey, 'variant-cookie')),
    makeToken: visitTokens(deriveKey(instanceKey, 'visit-token'), systemRandom).make,
    clock,
    throttles,
    trustedProxies: config.trustedProxies,
    service: serviceHost,
    oembedUrl: config.baseUrl + OEMBED_PATH,
    serviceHostFor: serviceHostsOf(config, serviceHost),
    onError: logUnexpected(log, 'redirect'),
  })
}

/** Returns how to find the service's own host, which is the same for all workspaces. */
export function serviceHostsOf(
  { hstsSeconds }: Pick<Config, 'hstsSeconds'>,
  { host: name, keyspaceId }: ServiceHost,
): (host: string) => LinkHost | undefined {
  const hstsMaxAge = hstsSeconds === 0 ? null : hstsSeconds
  const shared = { keyspaceId, notFoundUrl: null, expiredUrl: null, hstsMaxAge, settings: null }
  return (host) => (isServiceHost(host, name) ? shared : undefined)
}

/** Starts to lease clicks of limited links to this process, which its journal names. */
export function openLimits(
  { instance: { store, clock }, log }: AppContext,
  { journalId }: Pick<ClickIntake, 'journalId'>,
  caches: Pick<NodeCaches, 'add'>,
): LeasedClicks {
  const limits = new LeasedClicks({
    ...{ store, clock, journalId },
    onError: (error) => log.warn({ err: error }, 'click lease failed'),
  })
  caches.add(limits)
  limits.start()
  return limits
}

export function openSalts({ instance, log }: AppContext): VisitorSalts {
  return new VisitorSalts({
    store: instance.store,
    clock: instance.clock,
    random: systemRandom,
    onError: (error) => log.warn({ err: error }, 'visitor salts unavailable'),
  })
}

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
