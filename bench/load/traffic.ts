/** Which links a load asks for. */
export type Traffic = {
  /**
   * `uniform`: each of the links alike. `zipf`: the k-th most popular one with a probability in
   * proportion to 1/k. `missing`: keys that do not exist, hardly one of them twice.
   */
  readonly kind: 'uniform' | 'zipf' | 'missing'
  /** How many links there are: those of `pathOf`, from 1 on. */
  readonly links: number
}

/** The host that the links are on: a domain of a workspace's own, which needs no proof. */
export const HOST = 'go.localhost'

export const PATH_PREFIX = '/page-'

/** Keys that do not exist are this and a random number. */
export const MISSING_PREFIX = '/missing-'
export const MISSING_KEYS = 2 ** 31

/**
 * Popular links must not lie side by side in the database: a rank is multiplied by this prime, modulo
 * the number of links. Below 2^53 with ten million of them.
 */
export const SCATTER = 7_368_787

export function pathOf(link: number): string {
  return PATH_PREFIX + link
}

export function destinationOf(link: number): string {
  return `https://example.com/articles/${link}?from=newsletter`
}
