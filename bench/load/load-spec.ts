import type { Traffic } from './traffic.ts'

/** A load at saturation: every connection sends its next request when the last one is answered. */
export type LoadSpec = {
  readonly port: number
  readonly traffic: Traffic
  readonly connections: number
  readonly seconds: number
  /** What every request must get: a redirect, or that there is no such link. */
  readonly status: 302 | 404
  /** Of the random numbers, where the generator takes one. */
  readonly seed: number
}

export type LoadResult = {
  /** All that were sent. */
  readonly answered: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}
