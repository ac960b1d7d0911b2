import type { RawVisit } from './raw-visit.ts'

/** Whether a browser marks the request as a prefetch. */
export function isPrefetch(visit: RawVisit): boolean {
  const purpose = visit.secPurpose ?? visit.purpose ?? visit.xPurpose
  return (
    (purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)) ||
    visit.xMoz === 'prefetch'
  )
}
