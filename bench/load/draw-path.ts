import { MISSING_KEYS, MISSING_PREFIX, pathOf, SCATTER, type Traffic } from './traffic.ts'

/**
 * Draws the path of a request.
 *
 * @param random from 0 to below 1
 */
export function drawPath({ kind, links }: Traffic, random: () => number = Math.random): string {
  switch (kind) {
    case 'uniform':
      return pathOf(1 + Math.floor(random() * links))
    case 'missing':
      return MISSING_PREFIX + Math.floor(random() * MISSING_KEYS)
    case 'zipf':
      return pathOf(linkOfRank(drawRank(links, random), links))
  }
}

/**
 * Draws rank k, the most popular being 1, with a probability in proportion to 1/k.
 *
 * By rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates
 * from monotone discrete distributions", ACM TOMACS 6 (1996), for an exponent of 1.
 */
export function drawRank(ranks: number, random: () => number): number {
  const top = Math.log(ranks + 0.5)
  const bottom = Math.log(1.5) - 1
  const always = 2 - Math.exp(Math.log(2.5) - 0.5)
  for (;;) {
    const u = top + random() * (bottom - top)
    const x = Math.exp(u)
    const rank = Math.min(Math.max(Math.floor(x + 0.5), 1), ranks)
    if (rank - x <= always || u >= Math.log(rank + 0.5) - 1 / rank) return rank
  }
}

/** Popular links must not be neighbours in the database. */
export function linkOfRank(rank: number, links: number): number {
  return 1 + ((rank * SCATTER) % links)
}
