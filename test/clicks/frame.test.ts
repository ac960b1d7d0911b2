import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { decodeFrames, encodeFrame } from '../../src/clicks/journal/frame.ts'
import type { Click } from '../../src/domain/clicks/click.ts'
import { cases } from '../support/properties.ts'
import { clickOf } from './some-clicks.ts'

const ALL = Number.POSITIVE_INFINITY

const anyValue = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.integer({ min: 250, max: 255 }).map((length) => 'x'.repeat(length)),
)
const anyClick: fc.Arbitrary<Click> = fc.record(
  {
    at: fc.maxSafeNat(),
    link_seq: fc.maxSafeNat(),
    flags: fc.nat({ max: 0xffff }),
    visitor: fc.maxSafeNat(),
    country: anyValue,
    device: anyValue,
    os: anyValue,
    browser: anyValue,
    referrer: anyValue,
    language: anyValue,
    source: anyValue,
  },
  { noNullPrototype: true },
)
const anyFrame = fc.array(anyClick, { minLength: 1, maxLength: 12 })
const anyFrames = fc.array(anyFrame, { minLength: 1, maxLength: 8 })

/** Frames one after the other, and where each begins. */
function write(frames: readonly (readonly Click[])[]): { bytes: Buffer; starts: number[] } {
  const starts: number[] = []
  let size = 0
  const encoded = frames.map((clicks) => {
    const frame = encodeFrame(clicks)
    starts.push(size)
    size += frame.length
    return frame
  })
  return { bytes: Buffer.concat(encoded), starts }
}

/** The frame in which a byte lies. */
function frameAt(starts: readonly number[], offset: number): number {
  return starts.findLastIndex((start) => start <= offset)
}

describe('the frames of the click journal', () => {
  test('give back what was written, in its order', () => {
    fc.assert(
      fc.property(anyFrames, (frames) => {
        const { bytes } = write(frames)
        assert.deepEqual(decodeFrames(bytes, ALL), {
          clicks: frames.flat(),
          consumed: bytes.length,
          damaged: 0,
        })
      }),
      cases(300),
    )
  })

  test('cut at any byte give back the whole frames before the cut, and call nothing damage', () => {
    fc.assert(
      fc.property(anyFrames, fc.nat(), (frames, anywhere) => {
        const { bytes, starts } = write(frames)
        const cut = anywhere % (bytes.length + 1)
        const whole = cut === bytes.length ? frames.length : frameAt(starts, cut)
        assert.deepEqual(decodeFrames(bytes.subarray(0, cut), ALL), {
          clicks: frames.slice(0, whole).flat(),
          consumed: starts[whole] ?? bytes.length,
          damaged: 0,
        })
      }),
      cases(300),
    )
  })

  test('with any byte changed lose the frame that it lies in, and no other', () => {
    fc.assert(
      fc.property(anyFrames, fc.nat(), fc.integer({ min: 1, max: 255 }), (frames, where, flip) => {
        const { bytes, starts } = write(frames)
        const offset = where % bytes.length
        bytes[offset] = (bytes[offset] ?? 0) ^ flip
        const hit = frameAt(starts, offset)

        const decoded = decodeFrames(bytes, ALL)

        assert.deepEqual(decoded.clicks, frames.toSpliced(hit, 1).flat())
        const isLast = hit === frames.length - 1
        const hitBytes = (starts[hit + 1] ?? bytes.length) - (starts[hit] ?? 0)
        // Damage at the end may be a frame that is still being written, so it is left there.
        assert.equal(decoded.damaged, isLast ? 0 : hitBytes)
        assert.equal(decoded.consumed, isLast ? starts[hit] : bytes.length)
      }),
      cases(300),
    )
  })

  test('are found between bytes of any other kind', () => {
    const noise = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, anyFrame), { maxLength: 6 }), (parts) => {
        const bytes = Buffer.concat(parts.flatMap(([junk, clicks]) => [junk, encodeFrame(clicks)]))
        const decoded = decodeFrames(bytes, ALL)
        assert.deepEqual(
          decoded.clicks,
          parts.flatMap(([, clicks]) => clicks),
        )
        assert.equal(
          decoded.damaged,
          parts.reduce((sum, [junk]) => sum + junk.length, 0),
        )
      }),
      cases(300),
    )
  })

  test('yield no click from noise, even where it holds the magic and absurd lengths', () => {
    const magic = fc.constant(Buffer.from('TRS2', 'latin1'))
    const length = fc.nat({ max: 0xffff_ffff }).map((value) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32LE(value)
      return bytes
    })
    const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.array(fc.oneof(magic, length, noise), { maxLength: 30 }), (parts) => {
        const decoded = decodeFrames(Buffer.concat(parts), ALL)
        assert.deepEqual(decoded, { clicks: [], consumed: 0, damaged: 0 })
      }),
      cases(300),
    )
  })

  test('are not seen in zeros that a crash left after the magic', () => {
    const zeros = Buffer.concat([Buffer.from('TRS2', 'latin1'), Buffer.alloc(100)])
    assert.deepEqual(decodeFrames(zeros, ALL), { clicks: [], consumed: 0, damaged: 0 })
  })

  test('hold nothing but printable characters, and no more than fit, whatever a click says', () => {
    const click = { ...clickOf(1), country: 'D\n', referrer: 'x'.repeat(300), source: '\u{1f600}' }
    assert.deepEqual(decodeFrames(encodeFrame([click]), ALL).clicks, [
      { ...click, country: 'D?', referrer: 'x'.repeat(255), source: '??' },
    ])
  })

  test('are refused where a right checksum stands over records that nobody wrote', () => {
    const good = encodeFrame([clickOf(1), clickOf(2)])
    const changes: readonly [what: string, change: (records: Buffer) => void][] = [
      ['a shorter record', (records) => records.writeUInt16LE(records.readUInt16LE(0) - 1)],
      ['a longer record', (records) => records.writeUInt16LE(records.readUInt16LE(0) + 1)],
      ['a longer value', (records) => records.writeUInt8(9, 28)],
      ['an instant that is none', (records) => records.writeDoubleLE(Number.NaN, 4)],
      ['a link before the first', (records) => records.writeDoubleLE(-1, 12)],
      ['half a visitor', (records) => records.writeDoubleLE(0.5, 20)],
      ['a control character', (records) => records.writeUInt8(7, 36)],
    ]
    for (const [what, change] of changes) {
      const frame = Buffer.from(good)
      change(frame.subarray(12))
      frame.writeUInt32LE(crc32(frame.subarray(12), crc32(frame.subarray(4, 8))), 8)
      assert.deepEqual(decodeFrames(frame, ALL).clicks, [], what)
    }
    const empty = Buffer.concat([Buffer.from('TRS2', 'latin1'), Buffer.alloc(8)])
    empty.writeUInt32LE(crc32(empty.subarray(4, 8)), 8)
    assert.deepEqual(decodeFrames(empty, ALL), { clicks: [], consumed: 0, damaged: 0 })
  })

  test('stop after the wanted number of clicks, at the end of a frame', () => {
    const frames = [[clickOf(1), clickOf(2)], [clickOf(3), clickOf(4)], [clickOf(5)]]
    const { bytes, starts } = write(frames)
    const decoded = decodeFrames(bytes, 3)
    assert.deepEqual(decoded.clicks, [clickOf(1), clickOf(2), clickOf(3), clickOf(4)])
    assert.equal(decoded.consumed, starts[2])
  })
})
