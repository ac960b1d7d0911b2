/** How large a grown source is, with what it has grown from. */
export type Growth = {
  readonly links: number
  readonly clicks: number
  /** The same seed gives the same source. */
  readonly seed: number
}

/** A link that was made up. Instants are in seconds since the epoch. */
export type GrownLink = {
  readonly key: string
  readonly url: string
  readonly createdAt: number
  /** Every visit, in order. */
  readonly clicks: readonly number[]
  /** From 0 to 1: for what only a part of the links has. */
  readonly chance: number
  readonly number: number
}

const FIRST_DAY = Date.parse('2023-11-22T00:00:00Z') / 1_000
/** Nothing is later, so that what was made up does not depend on today. */
export const LAST_SECOND = Date.parse('2026-11-20T00:00:00Z') / 1_000

/** Returns numbers from 0 to 1 that look random: Mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Destinations with what a format may get wrong: quotes, backslashes, separators, other scripts. */
const TAILS = [
  '',
  "?q='it''s'",
  '?q="a;b",c',
  '/a\\b\\n',
  '/größe?x=1&y=%20z#top',
  '/日本語/🎉',
  '?utm_source=news&utm_medium=email',
  '/);--',
]

/** Makes links up: of one in a hundred the key differs from that before it in letter case alone. */
export function growLinks({ links, clicks, seed }: Growth): readonly GrownLink[] {
  const random = randomFrom(seed)
  const visits: number[][] = Array.from({ length: links }, () => [])
  // A few links have most visits.
  for (let click = 0; click < clicks; click += 1)
    visits[Math.floor(random() ** 3 * links)]?.push(random())
  return visits.map((parts, number) => {
    const createdAt = FIRST_DAY + Math.floor(random() * (LAST_SECOND - FIRST_DAY) * 0.9)
    const span = LAST_SECOND - createdAt
    return {
      key: number % 100 === 99 ? keyOf(number - 1).toUpperCase() : keyOf(number),
      url: `https://example.com/grown/${number}${TAILS[number % TAILS.length]}`,
      createdAt,
      clicks: parts.map((part) => createdAt + Math.floor(part * span)).sort((a, b) => a - b),
      chance: random(),
      number,
    }
  })
}

/** Such as `grown-00a7x`: all of the same length, for services that count characters. */
function keyOf(number: number): string {
  return `grown-${number.toString(36).padStart(5, '0')}`
}

export function formatIso(second: number): string {
  return new Date(second * 1_000).toISOString().replace('.000Z', 'Z')
}

/** As databases write it. */
export function formatDate(second: number): string {
  return formatIso(second).replace('T', ' ').replace('Z', '')
}
