/** The links that a load requests. */
export type Traffic = {
  /**
   * `uniform`: all links alike. `zipf`: the k-th most popular link with a probability in proportion
   * to 1/k. `missing`: keys that do not exist, which hardly ever repeat.
   */
  readonly kind: 'uniform' | 'zipf' | 'missing'
  /** The number of links: those of `pathOf`, from 1 on. */
  readonly links: number
}

/** The host of the links: a workspace's own domain, which needs no proof. */
export const HOST = 'go.localhost'

export const PATH_PREFIX = '/page-'

/** The prefix of keys that do not exist; a random number follows. */
export const MISSING_PREFIX = '/missing-'
export const MISSING_KEYS = 2 ** 31

/**
 * Popular links must not be neighbours in the database: a rank is multiplied by this prime, modulo
 * the number of links. The product stays below 2^53 with ten million links.
 */
export const SCATTER = 7_368_787

export function pathOf(link: number): string {
  return PATH_PREFIX + link
}

export function destinationOf(link: number): string {
  return `https://example.com/articles/${link}?from=newsletter`
}
