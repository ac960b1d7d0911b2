import { hasQrMark } from '../../links/index.ts'
import { CLICK_FLAGS, type Click, cappedClick } from '../click.ts'
import { factsOfAgent } from './agent.ts'
import type { ClickCap } from './click-cap.ts'
import type { Countries } from './countries.ts'
import { firstLanguage } from './language.ts'
import { type Origin, Origins } from './origins.ts'
import { isPrefetch } from './prefetch.ts'
import type { RawVisit } from './raw-visit.ts'
import { referrerHost } from './referrer-host.ts'
import type { VisitorSalts } from './visitor-salts.ts'

/** Makes the click of a visit that is being answered with a link's destination. */
export type ClickMaker = (linkSeq: number, visit: RawVisit) => Click

/** Why many visitors may have the address of one. */
export type SharedAddress = 'untrusted proxy' | 'private address'

/**
 * @param deps.cap undefined where clicks are not capped
 * @param deps.onSharedAddress called for visits that the cap may take for those of one visitor
 *   although they are not
 */
export function clickMaker(deps: {
  salts: Pick<VisitorSalts, 'at'>
  countries: Countries
  cap: ClickCap | undefined
  onSharedAddress: (why: SharedAddress) => void
}): ClickMaker {
  const { cap, onSharedAddress } = deps
  const origins = new Origins(deps.countries, (subscriber) => cap?.addressNumber(subscriber) ?? 0)

  function isWithinCap(origin: Origin, linkSeq: number, visit: RawVisit): boolean {
    if (cap === undefined) return true
    if (visit.isForwarded && origin.isPrivate) {
      // All visitors have the address of a proxy beside this service: none of them can be told apart.
      onSharedAddress('untrusted proxy')
      return true
    }
    if (cap.admits(origin.number, linkSeq, visit.at)) return true
    if (visit.isForwarded) onSharedAddress('untrusted proxy')
    else if (origin.isPrivate) onSharedAddress('private address')
    return false
  }

  return (linkSeq, visit) => {
    const { at } = visit
    const origin = origins.find(visit.address)
    if (!isWithinCap(origin, linkSeq, visit)) return cappedClick(linkSeq, at, 1)
    const agent = factsOfAgent(visit.userAgent)
    let flags = agent.flags
    if (visit.method === 'HEAD') flags |= CLICK_FLAGS.head
    if (isPrefetch(visit)) flags |= CLICK_FLAGS.prefetch
    return {
      at,
      link_seq: linkSeq,
      flags,
      count: 1,
      visitor: origin.visitor(agent, deps.salts.at(at)),
      country: origin.country,
      device: agent.kind,
      os: agent.os,
      browser: agent.browser,
      referrer: referrerHost(visit.referer),
      language: firstLanguage(visit.acceptLanguage),
      source: hasQrMark(visit.query) ? 'qr' : 'direct',
    }
  }
}
