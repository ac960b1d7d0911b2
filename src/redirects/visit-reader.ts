import type { RawVisit } from '../clicks/index.ts'
import { arrivedSecurely } from '../platform/http/arrived-securely.ts'
import { clientAddress, hidesClient, type Networks } from '../platform/network/ip-address.ts'
import type { Exchange } from './exchange.ts'

/** Reads a visit's headers. Of the headers that proxies add, those of trusted proxies count. */
export type VisitReader = {
  /** Returns the client's address: the last one that is not a trusted proxy's. */
  readonly addressOf: (exchange: Exchange) => string
  /** Returns whether the visitor came over HTTPS, to this service or to a trusted proxy. */
  readonly isSecure: (exchange: Exchange) => boolean
  /** Returns what the visit's click is made from. */
  readonly rawVisitOf: (exchange: Exchange, atMicros: number) => RawVisit
}

export function visitReader(trustedProxies: Networks): VisitReader {
  function addressOf({ headers, remoteAddress }: Exchange): string {
    return clientAddress(remoteAddress, headers['x-forwarded-for'], trustedProxies)
  }

  function isSecure(exchange: Exchange): boolean {
    return arrivedSecurely(exchange, exchange.headers['x-forwarded-proto'], trustedProxies)
  }

  function rawVisitOf(exchange: Exchange, atMicros: number): RawVisit {
    const { headers, remoteAddress } = exchange
    return {
      at: atMicros,
      method: exchange.method,
      address: addressOf(exchange),
      isForwarded: hidesClient(remoteAddress, headers['x-forwarded-for'], trustedProxies),
      query: exchange.target.query,
      userAgent: headers['user-agent'],
      referer: headers.referer,
      acceptLanguage: headers['accept-language'],
      secPurpose: headers['sec-purpose'],
      purpose: headers.purpose,
      xPurpose: headers['x-purpose'],
      xMoz: headers['x-moz'],
    }
  }

  return { addressOf, isSecure, rawVisitOf }
}
