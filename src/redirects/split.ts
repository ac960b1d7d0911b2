/** A share of the visitors, by its name. */
type Share = { readonly name: string; readonly weight: number }

/**
 * Divides visitors by weighted rendezvous hashing (Thaler and Ravishankar, 1998; with weights as an exponential race):
 * each variant draws a number for the visitor, and the lowest one wins. A variant draws the same whatever the
 * others are, so a change of one weight moves visitors only from or to that variant.
 *
 * @param seed differs for each split, so that those who get one variant here are divided again there
 * @returns finds the index of the variant of a visitor, given by a hash of 53 bits
 */
export function divider(seed: string, shares: readonly Share[]): (visitor: number) => number {
  const entrants = shares.flatMap(({ name, weight }, index) =>
    weight === 0 ? [] : [{ index, weight, hash: hashOf(`${seed}\n${name}`) }],
  )
  return (visitor) => {
    const low = visitor | 0
    const high = (visitor / 2 ** 32) | 0
    let winner = 0
    let earliest = Number.POSITIVE_INFINITY
    for (const { index, weight, hash } of entrants) {
      const drawn = mixed(mixed(low ^ hash) ^ high) >>> 0
      const arrival = -Math.log((drawn + 0.5) / 2 ** 32) / weight
      if (arrival >= earliest) continue
      earliest = arrival
      winner = index
    }
    return winner
  }
}

/** FNV-1a of a text, mixed. The hash is part of which visitor gets which variant: a change of it moves them all. */
function hashOf(text: string): number {
  let hash = 0x811c_9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x0100_0193)
  return mixed(hash)
}

/** The finalizer of MurmurHash3: each bit of the input changes each bit of the result with probability one half. */
function mixed(bits: number): number {
  let hash = bits ^ (bits >>> 16)
  hash = Math.imul(hash, 0x85eb_ca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2_ae35)
  return hash ^ (hash >>> 16)
}
