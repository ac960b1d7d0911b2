import type { RawVisit } from '../../../src/redirect/click/raw-visit.ts'

/** A GET without any header, but for what is given. */
export function rawVisit(sent: Partial<RawVisit> = {}): RawVisit {
  return {
    at: Date.UTC(2026, 10, 21) * 1_000,
    method: 'GET',
    address: '203.0.113.5',
    query: '',
    userAgent: undefined,
    referer: undefined,
    acceptLanguage: undefined,
    secPurpose: undefined,
    purpose: undefined,
    xPurpose: undefined,
    xMoz: undefined,
    ...sent,
  }
}
