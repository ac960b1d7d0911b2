import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import { ByteReader, ByteWriter } from '../../platform/bytes/bytes.ts'
import { UNKNOWN_VISITOR } from '../click.ts'
import { EXACT_VISITORS_MAX, VisitorSketch } from './visitor-sketch.ts'

/** Evenly distributed numbers of 53 bits; a number always gives the same visitor. */
function visitor(number: number): number {
  const hash = createHash('sha256').update(`visitor ${number}`).digest()
  return hash.readUInt32LE(0) + (hash.readUInt32LE(4) % 2 ** 21) * 2 ** 32
}

function sketchOf(visitors: Iterable<number>): VisitorSketch {
  const sketch = new VisitorSketch()
  for (const one of visitors) sketch.add(one)
  return sketch
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => visitor(from + index))
}

function bytesOf(sketch: VisitorSketch): Buffer {
  const writer = new ByteWriter()
  sketch.write(writer)
  return writer.take()
}

function copyOf(sketch: VisitorSketch): VisitorSketch {
  const copy = new VisitorSketch()
  copy.read(new ByteReader(bytesOf(sketch)))
  return copy
}

describe('VisitorSketch', () => {
  test('is exact for few visitors, however often each one returns', () => {
    const visitors = range(0, EXACT_VISITORS_MAX)
    assert.equal(sketchOf([]).count(), 0)
    assert.equal(sketchOf([...visitors, ...visitors]).count(), EXACT_VISITORS_MAX)
  })

  test('estimates many visitors within four standard errors', () => {
    for (const count of [EXACT_VISITORS_MAX + 1, 1_000, 5_000, 20_000, 200_000]) {
      const estimate = sketchOf(range(0, count)).count() ?? Number.NaN
      const error = estimate / count - 1
      assert.ok(Math.abs(error) < 4 * 0.0163, `${estimate} for ${count}`)
    }
  })

  test('gives the same count for any order and any merging of visitors', () => {
    const part = fc.record({ from: fc.nat({ max: 1_500 }), count: fc.nat({ max: 700 }) })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const merged = new VisitorSketch()
        for (const { from, count } of parts)
          merged.read(new ByteReader(bytesOf(sketchOf(range(from, from + count)))))
        const added = sketchOf(
          parts.toReversed().flatMap(({ from, count }) => range(from, from + count)),
        )
        assert.equal(merged.count(), added.count())
        assert.equal(copyOf(merged).count(), added.count())
      }),
      cases(25),
    )
  })

  test('is stored in at most 3,100 bytes', () => {
    assert.ok(bytesOf(sketchOf(range(0, EXACT_VISITORS_MAX))).length < 3_000)
    assert.ok(bytesOf(sketchOf(range(0, 50_000))).length < 3_100)
  })

  test('accepts the smallest and the largest visitor numbers', () => {
    const ends = [1, 2, 2 ** 53 - 1, 2 ** 32, 2 ** 44]
    assert.equal(copyOf(sketchOf(ends)).count(), ends.length)
    assert.ok((sketchOf([...range(0, 1_000), ...ends]).count() ?? 0) > 900)
  })

  test('has no count when a visitor is unknown, also after merging and storing it', () => {
    for (const known of [range(0, 3), range(0, 50_000)]) {
      const unknown = sketchOf([...known, UNKNOWN_VISITOR])
      assert.equal(copyOf(unknown).count(), null)
      for (const merged of [sketchOf(range(0, 3)), sketchOf(range(0, 50_000))]) {
        merged.read(new ByteReader(bytesOf(unknown)))
        assert.equal(copyOf(merged).count(), null)
      }
    }
  })
})
