import { sipHash53 } from '../platform/crypto/siphash.ts'
import { type Click, UNKNOWN_VISITOR } from './click.ts'

const ID = /^([0-9a-z]{1,11})-([0-9a-z]{1,7})$/
/** Not secret: the hash only tells apart clicks of one microsecond, and is too short to find the visitor by. */
const KEY = [0, 0, 0, 0] as const

/** Returns what names a click among those of its link; null for clicks of which only the number is known. */
export function clickId({ at, visitor }: Pick<Click, 'at' | 'visitor'>): string | null {
  if (visitor === UNKNOWN_VISITOR) return null
  const hash = sipHash53(KEY, `${at} ${visitor}`) % 2 ** 32
  return `${at.toString(36)}-${hash.toString(36)}`
}

/** Returns the instant of the click with this id, in microseconds since the epoch; undefined for text that is no id. */
export function instantOfClick(id: string): number | undefined {
  const micros = Number.parseInt(ID.exec(id)?.[1] ?? '', 36)
  return Number.isSafeInteger(micros) ? micros : undefined
}
