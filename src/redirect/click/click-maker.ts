import { CLICK_FLAGS, type Click } from '../../domain/clicks/click.ts'
import { hasQrMark } from '../../domain/qr/qr-mark.ts'
import { factsOfAgent } from './agent.ts'
import type { Countries } from './countries.ts'
import { firstLanguage } from './language.ts'
import { Origins } from './origins.ts'
import { isPrefetch } from './prefetch.ts'
import type { RawVisit } from './raw-visit.ts'
import { referrerHost } from './referrer-host.ts'
import type { VisitorSalts } from './visitor-salts.ts'

/** Makes the click of a visit that is being answered with a link's destination. */
export type ClickMaker = (linkSeq: number, visit: RawVisit) => Click

export function clickMaker(deps: {
  salts: Pick<VisitorSalts, 'at'>
  countries: Countries
}): ClickMaker {
  const origins = new Origins(deps.countries)
  return (linkSeq, visit) => {
    const { at } = visit
    const agent = factsOfAgent(visit.userAgent)
    const origin = origins.find(visit.address)
    let flags = agent.flags
    if (visit.method === 'HEAD') flags |= CLICK_FLAGS.head
    if (isPrefetch(visit)) flags |= CLICK_FLAGS.prefetch
    return {
      at,
      link_seq: linkSeq,
      flags,
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
