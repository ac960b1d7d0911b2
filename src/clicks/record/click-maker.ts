import { hasQrMark } from '../../links/index.ts'
import { CLICK_FLAGS, type Click, cappedClick } from '../click.ts'
import type { ClickCap } from './click-cap.ts'
import { type ClientAddress, ClientAddresses } from './client-addresses.ts'
import type { Countries } from './countries.ts'
import { firstLanguage } from './first-language.ts'
import { isPrefetch } from './is-prefetch.ts'
import type { RawVisit } from './raw-visit.ts'
import { referrerHost } from './referrer-host.ts'
import { parseUserAgent } from './user-agent.ts'
import type { VisitorSalts } from './visitor-salts.ts'

/** Creates the click for a visit that is redirected to a link's destination. */
export type ClickMaker = (linkSeq: number, visit: RawVisit) => Click

/** Why several visitors may share one address. */
export type SharedAddress = 'untrusted proxy' | 'private address'

/** Where such a visit comes from. */
export type SharedFrom = { readonly address: string; readonly isPrivate: boolean }

/**
 * @param deps.cap undefined if clicks are not capped
 * @param deps.onSharedAddress called for visits that may wrongly be attributed to one visitor
 */
export function clickMaker(deps: {
  salts: Pick<VisitorSalts, 'at'>
  countries: Countries
  cap: ClickCap | undefined
  onSharedAddress: (why: SharedAddress, from: SharedFrom) => void
}): ClickMaker {
  const { cap, onSharedAddress } = deps
  const addresses = new ClientAddresses(
    deps.countries,
    (subscriber) => cap?.addressNumber(subscriber) ?? 0,
  )

  function isWithinCap(address: ClientAddress, linkSeq: number, visit: RawVisit): boolean {
    const { isPrivate } = address
    // All visitors share the address of a local proxy, so they cannot be distinguished.
    const hidesVisitors = visit.isForwarded && isPrivate
    if (hidesVisitors) onSharedAddress('untrusted proxy', { address: visit.address, isPrivate })
    if (cap === undefined || hidesVisitors) return true
    if (cap.admits(address.number, linkSeq, visit.at)) return true
    if (visit.isForwarded || isPrivate) {
      const why = visit.isForwarded ? 'untrusted proxy' : 'private address'
      onSharedAddress(why, { address: visit.address, isPrivate })
    }
    return false
  }

  return (linkSeq, visit) => {
    const { at } = visit
    const address = addresses.find(visit.address)
    if (!isWithinCap(address, linkSeq, visit)) return cappedClick(linkSeq, at, 1)
    const agent = parseUserAgent(visit.userAgent)
    let flags = agent.flags
    if (visit.method === 'HEAD') flags |= CLICK_FLAGS.head
    if (isPrefetch(visit)) flags |= CLICK_FLAGS.prefetch
    return {
      at,
      link_seq: linkSeq,
      flags,
      count: 1,
      visitor: address.visitor(agent, deps.salts.at(at)),
      country: address.country,
      device: agent.kind,
      os: agent.os,
      browser: agent.browser,
      referrer: referrerHost(visit.referer),
      language: firstLanguage(visit.acceptLanguage),
      source: hasQrMark(visit.query) ? 'qr' : 'direct',
    }
  }
}
