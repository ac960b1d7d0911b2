import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { clickOf } from '../../../test/clicks/some-clicks.ts'
import { clicksOf, encodeFrame } from '../../../test/support/click-frames.ts'
import { cases } from '../../../test/support/properties.ts'
import { CLICK_DIMENSIONS, CLICK_FLAGS, type Click, cappedClick, countVisits } from '../click.ts'
import { ClickColumns } from '../click-columns.ts'
import { decodeFrames, FrameBuilder } from './record.ts'

const ALL = Number.POSITIVE_INFINITY

function decode(bytes: Buffer, clicksMax: number) {
  const clicks = new ClickColumns()
  const decoded = decodeFrames(bytes, clicksMax, clicks)
  return { clicks: clicksOf(clicks), ...decoded }
}

const anyValue = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.integer({ min: 250, max: 255 }).map((length) => 'x'.repeat(length)),
)
const REQUIRED = [
  ...(['at', 'link_seq', 'flags', 'count', 'visitor'] as const),
  ...CLICK_DIMENSIONS,
]
const anyClick: fc.Arbitrary<Click> = fc.record(
  {
    at: fc.maxSafeNat(),
    link_seq: fc.maxSafeNat(),
    flags: fc.nat({ max: 0x7fff }).filter((flags) => flags !== CLICK_FLAGS.capped),
    count: fc.constant(1),
    visitor: fc.maxSafeNat(),
    country: anyValue,
    device: anyValue,
    os: anyValue,
    browser: anyValue,
    referrer: anyValue,
    language: anyValue,
    source: anyValue,
    rule: fc.oneof(fc.constant(''), anyValue),
    variant: fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 60 })),
    label: fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 60 })),
    region: fc.oneof(fc.constant(''), anyValue),
    city: fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 60 })),
    isLimited: fc.constant(true),
  },
  { noNullPrototype: true, requiredKeys: REQUIRED },
)
const anyFrame = fc.array(anyClick, { minLength: 1, maxLength: 12 })
const anyFrames = fc.array(anyFrame, { minLength: 1, maxLength: 8 })

/** The encoded frames, concatenated, and the offset at which each begins. */
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

/** The index of the frame that contains a byte. */
function frameAt(starts: readonly number[], offset: number): number {
  return starts.findLastIndex((start) => start <= offset)
}

describe('encodeFrame and decodeFrames', () => {
  test('return the clicks that were written, in order', () => {
    fc.assert(
      fc.property(anyFrames, (frames) => {
        const { bytes } = write(frames)
        assert.deepEqual(decode(bytes, ALL), {
          clicks: frames.flat(),
          consumed: bytes.length,
          damaged: 0,
        })
      }),
      cases(150),
    )
  })

  test('return the whole frames before a cut at any byte, and report no damage', () => {
    fc.assert(
      fc.property(anyFrames, fc.nat(), (frames, anywhere) => {
        const { bytes, starts } = write(frames)
        const cut = anywhere % (bytes.length + 1)
        const whole = cut === bytes.length ? frames.length : frameAt(starts, cut)
        assert.deepEqual(decode(bytes.subarray(0, cut), ALL), {
          clicks: frames.slice(0, whole).flat(),
          consumed: starts[whole] ?? bytes.length,
          damaged: 0,
        })
      }),
      cases(150),
    )
  })

  test('lose only the frame in which a byte was changed', () => {
    fc.assert(
      fc.property(anyFrames, fc.nat(), fc.integer({ min: 1, max: 255 }), (frames, where, flip) => {
        const { bytes, starts } = write(frames)
        const offset = where % bytes.length
        bytes[offset] = (bytes[offset] ?? 0) ^ flip
        const hit = frameAt(starts, offset)

        const decoded = decode(bytes, ALL)

        assert.deepEqual(decoded.clicks, frames.toSpliced(hit, 1).flat())
        const isLast = hit === frames.length - 1
        const hitBytes = (starts[hit + 1] ?? bytes.length) - (starts[hit] ?? 0)
        // Damage at the end may be a frame that is still being written, so it is not consumed.
        assert.equal(decoded.damaged, isLast ? 0 : hitBytes)
        assert.equal(decoded.consumed, isLast ? starts[hit] : bytes.length)
      }),
      cases(150),
    )
  })

  test('find the frames between other bytes', () => {
    const noise = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, anyFrame), { maxLength: 6 }), (parts) => {
        const bytes = Buffer.concat(parts.flatMap(([junk, clicks]) => [junk, encodeFrame(clicks)]))
        const decoded = decode(bytes, ALL)
        assert.deepEqual(
          decoded.clicks,
          parts.flatMap(([, clicks]) => clicks),
        )
        assert.equal(
          decoded.damaged,
          parts.reduce((sum, [junk]) => sum + junk.length, 0),
        )
      }),
      cases(150),
    )
  })

  test('return no click from noise, even with the magic bytes and absurd lengths in it', () => {
    const magic = fc.constant(Buffer.from('TRS3', 'latin1'))
    const length = fc.nat({ max: 0xffff_ffff }).map((value) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32LE(value)
      return bytes
    })
    const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.array(fc.oneof(magic, length, noise), { maxLength: 30 }), (parts) => {
        const decoded = decode(Buffer.concat(parts), ALL)
        assert.deepEqual(decoded, { clicks: [], consumed: 0, damaged: 0 })
      }),
      cases(150),
    )
  })

  test('return no click from zeros that a crash left after the magic bytes', () => {
    const zeros = Buffer.concat([Buffer.from('TRS3', 'latin1'), Buffer.alloc(100)])
    assert.deepEqual(decode(zeros, ALL), { clicks: [], consumed: 0, damaged: 0 })
  })

  test('write only printable characters, and cut values that are too long', () => {
    const click = { ...clickOf(1), country: 'D\n', referrer: 'x'.repeat(300), source: '\u{1f600}' }
    assert.deepEqual(decode(encodeFrame([click]), ALL).clicks, [
      { ...click, country: 'D?', referrer: 'x'.repeat(255), source: '??' },
    ])
  })

  test('refuse malformed records under a correct checksum', () => {
    const good = encodeFrame([clickOf(1), clickOf(2)])
    const changes: readonly [what: string, change: (records: Buffer) => void][] = [
      ['a shorter record', (records) => records.writeUInt16LE(records.readUInt16LE(0) - 1)],
      ['a longer record', (records) => records.writeUInt16LE(records.readUInt16LE(0) + 1)],
      ['a longer value', (records) => records.writeUInt8(9, 28)],
      ['an invalid instant', (records) => records.writeDoubleLE(Number.NaN, 4)],
      ['a negative link number', (records) => records.writeDoubleLE(-1, 12)],
      ['a visitor that is not an integer', (records) => records.writeDoubleLE(0.5, 20)],
      ['a control character', (records) => records.writeUInt8(7, 36)],
    ]
    for (const [what, change] of changes) {
      const frame = Buffer.from(good)
      change(frame.subarray(12))
      frame.writeUInt32LE(crc32(frame.subarray(12), crc32(frame.subarray(0, 8))), 8)
      assert.deepEqual(decode(frame, ALL).clicks, [], what)
    }
    const cappedChanges: readonly [what: string, change: (records: Buffer) => void][] = [
      ['a count of zero', (records) => records.writeUInt32LE(0, 20)],
      ['another flag set', (records) => records.writeUInt16LE(17, 2)],
      ['a negative link number', (records) => records.writeDoubleLE(-1, 12)],
      ['an invalid instant', (records) => records.writeDoubleLE(Number.NaN, 4)],
    ]
    for (const [what, change] of cappedChanges) {
      const frame = Buffer.from(encodeFrame([cappedClick(7, 1, 3)]))
      change(frame.subarray(12))
      frame.writeUInt32LE(crc32(frame.subarray(12), crc32(frame.subarray(0, 8))), 8)
      assert.deepEqual(decode(frame, ALL).clicks, [], what)
    }
    const empty = Buffer.concat([Buffer.from('TRS3', 'latin1'), Buffer.alloc(8)])
    empty.writeUInt32LE(crc32(empty.subarray(0, 8)), 8)
    assert.deepEqual(decode(empty, ALL), { clicks: [], consumed: 0, damaged: 0 })
  })

  test('stop after the requested number of clicks, at the end of a frame', () => {
    const frames = [[clickOf(1), clickOf(2)], [clickOf(3), clickOf(4)], [clickOf(5)]]
    const { bytes, starts } = write(frames)
    const decoded = decode(bytes, 3)
    assert.deepEqual(decoded.clicks, [clickOf(1), clickOf(2), clickOf(3), clickOf(4)])
    assert.equal(decoded.consumed, starts[2])
  })

  test('merge capped clicks of one link and minute into one record', () => {
    const MINUTE = 60_000_000
    const clicks = [
      clickOf(MINUTE + 1, 7),
      cappedClick(7, MINUTE + 2, 1),
      cappedClick(8, MINUTE + 3, 1),
      cappedClick(7, MINUTE + 4, 2),
      clickOf(MINUTE + 5, 7),
      cappedClick(7, 2 * MINUTE - 1, 1),
      cappedClick(7, 2 * MINUTE, 5),
    ]
    const frame = encodeFrame(clicks)
    const { clicks: read } = decode(frame, ALL)
    assert.deepEqual(read, [
      clicks[0],
      cappedClick(7, MINUTE + 2, 4),
      clicks[2],
      clicks[4],
      clicks[6],
    ])
    assert.equal(countVisits(read), countVisits(clicks))
  })

  test('take 24 bytes for any number of capped clicks of a link', () => {
    const builder = new FrameBuilder()
    for (let at = 0; at < 10_000; at += 1) builder.add(cappedClick(7, at, 1))
    assert.equal(builder.count, 10_000)
    assert.equal(builder.finish().length, 12 + 24)
    builder.add(cappedClick(7, 1, 1))
    assert.deepEqual(decode(builder.finish(), ALL).clicks, [cappedClick(7, 1, 1)])
  })

  test('start another record when the count of a record is full', () => {
    const countMax = 0xffff_ffff
    const { clicks } = decode(encodeFrame([cappedClick(7, 1, countMax), cappedClick(7, 2, 3)]), ALL)
    assert.deepEqual(clicks, [cappedClick(7, 1, countMax), cappedClick(7, 2, 3)])
  })

  test('keep the bytes of the versions before for clicks without a rule or a label', () => {
    const click = { ...clickOf(7), at: 1_000_001, flags: 0, country: 'DE', source: 'direct' }
    const ruled = { ...click, rule: 'phones', variant: 'größer' }
    const builder = new FrameBuilder()
    const labelled = { ...click, label: 'Größe' }
    const both = { ...ruled, label: 'x' }
    const placed = { ...click, city: 'Zürich' }
    const full = { ...both, region: 'US-CA', city: 'San Diego' }
    const batches = [
      [click],
      [click, ruled],
      [click],
      [labelled, both, ruled],
      [ruled],
      [full, placed],
    ]
    const frames = batches.map((clicks) => {
      for (const each of clicks) builder.add(each)
      return Buffer.from(builder.finish())
    })
    assert.deepEqual(
      frames.map((frame) => frame.toString('latin1', 0, 4)),
      ['TRS3', 'TRS4', 'TRS3', 'TRS5', 'TRS4', 'TRS6'],
    )
    const [
      plain = Buffer.alloc(0),
      mixed = Buffer.alloc(0),
      ,
      latest = Buffer.alloc(0),
      ,
      last = Buffer.alloc(0),
    ] = frames
    const values = ['country', 'device', 'os', 'browser', 'referrer', 'language', 'source'] as const
    const texts = values.map((name) => Buffer.from(click[name]))
    const record = Buffer.concat([
      Buffer.alloc(28),
      Buffer.from(texts.map(({ length }) => length)),
      ...texts,
    ])
    record.writeUInt16LE(record.length, 0)
    record.writeDoubleLE(click.at, 4)
    record.writeDoubleLE(click.link_seq, 12)
    record.writeDoubleLE(click.visitor, 20)
    assert.deepEqual(plain.subarray(12), record)
    assert.deepEqual(mixed.subarray(12, 12 + record.length), record)
    const all = Buffer.concat([plain, mixed, latest, last])
    assert.deepEqual(decode(all, ALL).clicks, [
      click,
      click,
      ruled,
      labelled,
      both,
      ruled,
      full,
      placed,
    ])
  })

  test('refuse a record whose rule, variant or label does not end with it', () => {
    const ruled = Buffer.from(encodeFrame([{ ...clickOf(1), rule: 'a', variant: 'b' }]))
    const labelled = Buffer.from(encodeFrame([{ ...clickOf(1), label: 'l' }]))
    const placed = Buffer.from(encodeFrame([{ ...clickOf(1), region: 'r', city: 'c' }]))
    for (const [frame, at, byte] of [
      [ruled, -4, 2],
      [ruled, -3, 0],
      [labelled, -3, 1],
      [labelled, -2, 0],
      [labelled, -2, 2],
      [placed, -4, 2],
      [placed, -3, 0],
    ] as const) {
      const damaged = Buffer.from(frame)
      damaged[frame.length + at] = byte
      damaged.writeUInt32LE(crc32(damaged.subarray(12), crc32(damaged.subarray(0, 8))), 8)
      assert.deepEqual(decode(damaged, ALL).clicks, [])
    }
  })

  test('read frames of the previous version beside those of this version', () => {
    const now = encodeFrame([clickOf(1), cappedClick(7, 2, 3)])
    const before = Buffer.from(encodeFrame([clickOf(4), clickOf(5)]))
    before.write('TRS2', 'latin1')
    before.writeUInt32LE(crc32(before.subarray(12), crc32(before.subarray(4, 8))), 8)
    const bytes = Buffer.concat([before, now, before])
    assert.deepEqual(decode(bytes, ALL), {
      clicks: [clickOf(4), clickOf(5), clickOf(1), cappedClick(7, 2, 3), clickOf(4), clickOf(5)],
      consumed: bytes.length,
      damaged: 0,
    })
  })

  test('refuse a frame whose magic bytes were changed to those of the previous version', () => {
    const frame = Buffer.from(encodeFrame([clickOf(1)]))
    frame.write('TRS2', 'latin1')
    assert.deepEqual(decode(frame, ALL).clicks, [])
  })

  test('report frames of an unknown version as damage', () => {
    const later = Buffer.from(encodeFrame([clickOf(1)]))
    later.write('TRS7', 'latin1')
    later.writeUInt32LE(crc32(later.subarray(12), crc32(later.subarray(0, 8))), 8)
    const known = encodeFrame([clickOf(2)])
    const decoded = decode(Buffer.concat([later, known]), ALL)
    assert.deepEqual(decoded.clicks, [clickOf(2)])
    assert.equal(decoded.damaged, later.length)
  })
})
