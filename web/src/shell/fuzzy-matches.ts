import uFuzzy from '@leeoniya/ufuzzy'

const TYPO_LENGTH_MIN = 3
const WRONG_LETTER_LENGTH_MIN = 5

/** Finds words in any order, each with one slip: short ones with a letter missing or two swapped. */
const fuzzy = new uFuzzy({
  intraMode: 1,
  intraRules({ length }) {
    const isLong = length >= WRONG_LETTER_LENGTH_MIN ? 1 : 0
    const isWord = length >= TYPO_LENGTH_MIN ? 1 : 0
    return {
      // The first letter is always right.
      intraSlice: [1, Number.POSITIVE_INFINITY],
      intraIns: isWord,
      intraSub: isLong,
      intraTrn: isWord,
      intraDel: isLong,
    }
  },
})

const ANY_ORDER = 1

/** The items whose text matches what was typed, the best first; all of them while nothing is typed. */
export function fuzzyMatches<T>(
  typed: string,
  items: readonly T[],
  textOf: (item: T) => string,
): readonly T[] {
  if (typed === '') return items
  const texts = uFuzzy.latinize(items.map(textOf))
  const [indexes, info, order] = fuzzy.search(texts, uFuzzy.latinize(typed), ANY_ORDER)
  const best = info && order ? order.flatMap((nth) => info.idx[nth] ?? []) : (indexes ?? [])
  return best.flatMap((index) => items[index] ?? [])
}
