import type { RawVisit } from './raw-visit.ts'

/** Whether a browser says that it fetches ahead, before a person asked for it. */
export function isPrefetch(visit: RawVisit): boolean {
  const purpose = visit.secPurpose ?? visit.purpose ?? visit.xPurpose
  return (
    (purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)) ||
    visit.xMoz === 'prefetch'
  )
}
