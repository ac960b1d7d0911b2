import type { Traffic } from './traffic.ts'

/**
 * A load at saturation: every connection sends its next request as soon as the last one is
 * answered.
 */
export type LoadSpec = {
  readonly port: number
  readonly traffic: Traffic
  readonly connections: number
  readonly seconds: number
  /** The required answer of every request: a redirect, or 404. */
  readonly status: 302 | 404
  /** The seed of the random numbers, for generators that take one. */
  readonly seed: number
}

export type LoadResult = {
  /** The number of requests sent. */
  readonly answered: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}
