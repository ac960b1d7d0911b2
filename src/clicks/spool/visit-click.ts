import { isIP } from 'node:net'
import { type SipKey, sipHash53 } from '../../platform/crypto/siphash.ts'
import { subscriberOf } from '../../platform/network/ip-address.ts'
import { CLICK_FLAGS, type Click, NO_RULE, NOWHERE, type Place, UNKNOWN_VISITOR } from '../click.ts'
import type { Places } from '../record/places.ts'
import { parseUserAgent, referrerHost, type UserAgentInfo } from '../record/raw-visit.ts'
import { dayOf } from '../tally/click-day.ts'

/** A visit that another service has recorded. */
export type RecordedVisit = {
  /** Microseconds since the epoch. */
  readonly at: number
  /** The visitor's IP address; null if unknown. */
  readonly address: string | null
  /** '' for a request that had none; null if unknown. */
  readonly user_agent: string | null
  /** The referring URL or its host; '' for none or unknown. */
  readonly referrer: string
  /** ISO 3166-1 alpha-2 in upper case; '' if unknown. */
  readonly country: string
  /** Whether the service took it for a bot's. */
  readonly is_bot: boolean
  /** What this program stored of it, in place of address and user agent. */
  readonly stored?: Omit<Click, 'at' | 'link_seq' | 'country' | 'referrer'>
}

const COUNTRY = /^[A-Z]{2}$/
/** User-assigned code that services store for an unknown country. */
const NO_COUNTRY = 'XX'
const FLAGS_MAX = Object.values(CLICK_FLAGS).reduce((sum, flag) => sum | flag, 0)
const VALUE_LENGTH_MAX = 253
const HAS_SCHEME = /^[a-z][a-z+.-]*:/i

/** Stands for an unknown user agent; a missing one is that of a bot. */
const UNKNOWN_AGENT: UserAgentInfo = {
  digest: '',
  device: 'other',
  flags: 0,
  kind: '',
  os: '',
  browser: '',
}

/**
 * Returns the click of a visit, read with the rules of this service's own clicks. The day is part of what the visitor
 * number is made of, so a visitor cannot be recognised on another day, as with the salts of days.
 *
 * @param key the secret of the import
 */
export function clickOfVisit(
  link_seq: number,
  visit: RecordedVisit,
  { key, places }: { readonly key: SipKey; readonly places: Places },
): Click {
  if (visit.stored !== undefined) return clickAsStored(link_seq, visit, visit.stored)
  const { at, address, user_agent, referrer } = visit
  const { country, region, city } = placeOf(visit, places)
  const agent = user_agent === null ? UNKNOWN_AGENT : parseUserAgent(user_agent)
  return {
    at,
    link_seq,
    flags: agent.flags | (visit.is_bot ? CLICK_FLAGS.bot : 0),
    count: 1,
    visitor: visitorOf(address, `${dayOf(at)}\n${agent.digest}`, key),
    country,
    device: agent.kind,
    os: agent.os,
    browser: agent.browser,
    referrer: referrerHost(HAS_SCHEME.test(referrer) ? referrer : `https://${referrer}`),
    language: '',
    source: 'direct',
    ...NO_RULE,
    label: '',
    ...{ region, city },
  }
}

/** Values of an export that was edited are cut to what a click can have. */
function clickAsStored(
  link_seq: number,
  { at, country, referrer }: RecordedVisit,
  stored: NonNullable<RecordedVisit['stored']>,
): Click {
  const { flags, visitor } = stored
  const cut = (value: string) => value.slice(0, VALUE_LENGTH_MAX)
  return {
    at,
    link_seq,
    flags: flags & FLAGS_MAX,
    count: stored.count,
    visitor: Number.isSafeInteger(visitor) && visitor >= 0 ? visitor : UNKNOWN_VISITOR,
    country: COUNTRY.test(country) ? country : '',
    device: cut(stored.device),
    os: cut(stored.os),
    browser: cut(stored.browser),
    referrer: cut(referrer),
    language: cut(stored.language),
    source: cut(stored.source),
    rule: cutText(stored.rule),
    variant: cutText(stored.variant),
    label: cutText(stored.label),
    region: cutText(stored.region),
    city: cutText(stored.city),
  }
}

/** PostgreSQL stores no text with a zero character. */
const CONTROL_CHARACTERS = /\p{Cc}/gu

function cutText(text: string): string {
  const cut = Buffer.from(text.replace(CONTROL_CHARACTERS, '?')).subarray(0, VALUE_LENGTH_MAX)
  return cut.toString()
}

/** Without an address, visitors cannot be told apart. */
function visitorOf(address: string | null, dayAndAgent: string, key: SipKey): number {
  if (address === null || isIP(address) === 0) return UNKNOWN_VISITOR
  return sipHash53(key, `${subscriberOf(address)}\n${dayAndAgent}`)
}

/** A source that names another country than the address says knows better. */
function placeOf({ country, address }: RecordedVisit, places: Places): Place {
  const found = address === null ? NOWHERE : places(address)
  const isNamed = COUNTRY.test(country) && country !== NO_COUNTRY
  return isNamed && country !== found.country ? { ...NOWHERE, country } : found
}
