import type { RawVisit } from '../../../src/clicks/record/raw-visit.ts'
import { fakeClock } from '../../support/fake-clock.ts'

/** A GET without headers except the given ones. */
export function rawVisit(sent: Partial<RawVisit> = {}): RawVisit {
  return {
    at: fakeClock().nowMicros(),
    method: 'GET',
    address: '203.0.113.5',
    isForwarded: false,
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
