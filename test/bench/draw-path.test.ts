import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawRank, linkOfRank } from '../../bench/load/draw-path.ts'

const RANKS = 1_000
const DRAWS = 400_000
/** Three standard deviations of the share that is drawn. */
const deviation = (share: number) => 3 * Math.sqrt((share * (1 - share)) / DRAWS)

/** The same numbers in each run (a linear congruential generator with Knuth’s constants). */
function randomFrom(seed: bigint): () => number {
  let state = seed
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & (2n ** 64n - 1n)
    return Number(state >> 11n) / 2 ** 53
  }
}

describe('the bench’s traffic', () => {
  test('draws the k-th most popular link with a probability proportional to 1/k', () => {
    const random = randomFrom(7n)
    const counts = new Map<number, number>()
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const rank = drawRank(RANKS, random)
      counts.set(rank, (counts.get(rank) ?? 0) + 1)
    }
    const harmonic = Array.from({ length: RANKS }, (_, index) => 1 / (index + 1)).reduce(
      (sum, share) => sum + share,
    )
    for (const rank of [1, 2, 3, 10, 100, RANKS]) {
      const expected = 1 / rank / harmonic
      const share = (counts.get(rank) ?? 0) / DRAWS
      assert.ok(Math.abs(share - expected) < deviation(expected), `rank ${rank}: ${share}`)
    }
    assert.ok([...counts.keys()].every((rank) => rank >= 1 && rank <= RANKS))
  })

  test('maps every rank to a different link', () => {
    const ranks = Array.from({ length: RANKS }, (_, index) => index + 1)
    const links = new Set(ranks.map((rank) => linkOfRank(rank, RANKS)))
    assert.equal(links.size, RANKS)
    assert.ok([...links].every((link) => link >= 1 && link <= RANKS))
  })
})
