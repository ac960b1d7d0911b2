import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { PNG } from 'pngjs'
import { cases } from '../../../test/support/properties.ts'
import { scan } from '../../../test/support/scan.ts'
import { BLACK, type QrTask, renderQrCode } from './qr-code.ts'

const TEXT = 'https://localhost/scan-me'

function render(task: Partial<QrTask>) {
  return renderQrCode({
    text: TEXT,
    color: BLACK,
    format: 'png',
    size: undefined,
    margin: 4,
    level: 'M',
    logo: undefined,
    ...task,
  })
}

function pictureOf(task: Partial<QrTask>): Buffer {
  const rendering = render(task)
  assert.ok('picture' in rendering, JSON.stringify(rendering))
  return Buffer.from(rendering.picture)
}

describe('renderQrCode', () => {
  test('draws a code that a decoder reads, or names the parameter that prevents it', () => {
    const tasks = fc.record({
      text: fc
        .oneof(fc.stringMatching(/^[\w%/.-]{1,60}$/), fc.stringMatching(/^[a-z]{300,2000}$/))
        .map((key) => `https://localhost/${key}`),
      format: fc.constantFrom('png' as const, 'svg' as const),
      size: fc.option(fc.integer({ min: 64, max: 700 }), { nil: undefined }),
      margin: fc.integer({ min: 0, max: 16 }),
      level: fc.constantFrom('L' as const, 'M' as const, 'Q' as const, 'H' as const),
    })
    fc.assert(
      fc.property(tasks, (task) => {
        const rendering = render(task)
        if ('faults' in rendering) {
          const [field] = Object.keys(rendering.faults)
          assert.ok(field === 'level' ? task.text.length > 1_200 : task.size !== undefined)
          return
        }
        const code = scan(Buffer.from(rendering.picture))
        assert.equal(code.text, task.text)
        assert.equal(code.errorLevel, task.level)
        assert.equal(code.side, task.size ?? code.side)
        assert.ok(Math.min(...code.quietZone) >= task.margin)
      }),
      cases(20),
    )
  })

  test('draws the same picture as SVG and as PNG', () => {
    for (const task of [{}, { size: 333, margin: 1, level: 'H' }] as const) {
      const svg = scan(
        pictureOf({ ...task, format: 'svg', color: { red: 128, green: 0, blue: 9 } }),
      )
      const png = scan(
        pictureOf({ ...task, format: 'png', color: { red: 128, green: 0, blue: 9 } }),
      )
      assert.deepEqual(svg, png)
      assert.deepEqual(png.colors, ['#ffffff', '#800009'])
    }
  })

  test('has exactly the requested size, down to the minimum that it names', () => {
    const rendering = render({ size: 64, margin: 16 })
    assert.ok('faults' in rendering)
    const [fault] = rendering.faults.size ?? []
    assert.ok(fault?.code === 'size_too_small')
    const least = Number(fault.min)
    assert.ok('faults' in render({ size: least - 1, margin: 16 }))
    assert.equal(scan(pictureOf({ size: least, margin: 16 })).side, least)
    const { width, height } = PNG.sync.read(pictureOf({ size: 2_048 }))
    assert.deepEqual([width, height], [2_048, 2_048])
  })

  test('refuses an error correction level at which the text does not fit', () => {
    const text = `https://localhost/${'a'.repeat(1_400)}`
    assert.deepEqual(render({ text, level: 'H' }), {
      faults: { level: [{ code: 'level_too_high' }] },
    })
    assert.equal(scan(pictureOf({ text, level: 'Q' })).text, text)
  })
})
