import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faultText } from '@terse/contract/faults'
import { PNG } from 'pngjs'
import { scan } from '../../../test/support/scan.ts'
import { parseLogo } from './logo.ts'
import { BLACK, type QrTask, renderQrCode } from './qr-code.ts'

const PREFIX = 'data:image/png;base64,'
const RED = [200, 0, 0, 255] as const
const IHDR_WIDTH = 16
const IHDR_INTERLACE = 28

function pngOf(width: number, height: number, pixel: readonly number[] = RED): Buffer {
  const png = new PNG({ width, height })
  for (let at = 0; at < png.data.length; at += 4) png.data.set(pixel, at)
  return PNG.sync.write(png)
}

const urlOf = (bytes: Uint8Array) => PREFIX + Buffer.from(bytes).toString('base64')

function logoOf(bytes: Uint8Array): Uint8Array {
  const parsed = parseLogo(urlOf(bytes))
  assert.ok('value' in parsed, JSON.stringify(parsed))
  return parsed.value
}

function faultOf(text: string): string {
  const parsed = parseLogo(text)
  assert.ok('fault' in parsed)
  return faultText(parsed.fault)
}

function render(task: Partial<QrTask>) {
  return renderQrCode({
    text: 'https://localhost/scan-me',
    color: BLACK,
    format: 'png',
    size: undefined,
    margin: 4,
    level: 'H',
    logo: undefined,
    ...task,
  })
}

/** A copy with other bytes, whose checksums no longer hold. */
function withBytes(png: Buffer, at: number, bytes: readonly number[]): Buffer {
  const copy = Buffer.from(png)
  copy.set(bytes, at)
  return copy
}

describe('parseLogo', () => {
  const png = pngOf(8, 8)

  test('accepts a PNG of 512 × 512 pixels, and leaves out its comments', () => {
    const comment = Buffer.from('\0\0\0\x06tEXtsecret\0\0\0\0', 'latin1')
    const end = png.length - 12
    const commented = Buffer.concat([png.subarray(0, end), comment, png.subarray(end)])
    assert.deepEqual(Buffer.from(logoOf(commented)), png)
    logoOf(pngOf(512, 512))
  })

  for (const [what, text, fault] of [
    ['a JPEG', 'data:image/jpeg;base64,AAAA', /^must be a PNG in base64/],
    ['text that is not base64', `${PREFIX}%%%`, /^must be a PNG in base64/],
    ['other bytes', urlOf(Buffer.alloc(100)), /^is not a valid PNG/],
    ['a PNG that is cut off', urlOf(png.subarray(0, -20)), /^is not a valid PNG/],
    [
      'a second header',
      urlOf(Buffer.concat([png.subarray(0, 33), png.subarray(8)])),
      /^is not a valid PNG/,
    ],
    ['more than 32 KiB', urlOf(Buffer.alloc(32 * 1024 + 1)), /^must have at most 32 KiB/],
    ['too many pixels', urlOf(pngOf(513, 1)), /^must have at most 512 × 512 pixels/],
    ['no pixels', urlOf(withBytes(png, IHDR_WIDTH, [0, 0, 0, 0])), /^must have at most 512/],
    ['an interlaced PNG', urlOf(withBytes(png, IHDR_INTERLACE, [1])), /^must not be an interlaced/],
  ] as const) {
    test(`refuses ${what}`, () => assert.match(faultOf(text), fault))
  }
})

describe('a QR code with a logo', () => {
  for (const format of ['png', 'svg'] as const) {
    test(`is scanned, and shows the logo in its middle, as ${format}`, () => {
      for (const length of [5, 60, 300, 900]) {
        for (const level of ['Q', 'H'] as const) {
          const text = `https://localhost/${'k'.repeat(length)}`
          const logo = logoOf(pngOf(64, 64, length % 2 === 0 ? [0, 0, 0, 255] : RED))
          const rendering = render({ text, format, level, logo })
          assert.ok('picture' in rendering)
          const code = scan(Buffer.from(rendering.picture))
          assert.equal(code.text, text)
          assert.equal(code.errorLevel, level)
          if (length === 5) assert.ok(code.colors.includes('#c80000'))
        }
      }
    })
  }

  test('is drawn in the largest size, with a logo of another shape and transparency', () => {
    const logo = logoOf(pngOf(512, 3, [0, 0, 255, 128]))
    const rendering = render({ size: 2_048, logo })
    assert.ok('picture' in rendering)
    const code = scan(Buffer.from(rendering.picture))
    assert.equal(code.text, 'https://localhost/scan-me')
    assert.equal(code.side, 2_048)
    assert.ok(code.colors.includes('#7f7fff'))
  })

  test('is refused when the logo cannot be decoded, however large it would become', () => {
    const png = pngOf(512, 512)
    const damaged = withBytes(png, png.length - 30, [1, 2, 3, 4])
    // Its data is that of 512 × 512 pixels.
    const smaller = withBytes(png, IHDR_WIDTH, [0, 0, 0, 1])
    for (const bytes of [damaged, smaller]) {
      assert.deepEqual(render({ logo: logoOf(bytes) }), {
        faults: { logo: [{ code: 'invalid_logo', reason: 'damaged' }] },
      })
    }
  })
})
