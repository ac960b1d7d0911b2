import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TaskThread } from '../../platform/work/task-thread.ts'
import { imageNameOf } from './image-name.ts'
import type { PictureResult } from './picture.ts'
import { readPictureHeader } from './picture-header.ts'
import type { PreviewTask } from './preview-worker.ts'

/** A JPEG of 4 by 2 pixels, red at its left and blue at its right. */
const JPEG = Buffer.from(
  '/9j/4AAQSkZJRgABAgAAAQABAAD/wAARCAACAAQDAREAAhEBAxEB/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJTUjI+WmFaUGBKUVJP/9sAQwEODg4TERMmFRUmTzUtNU9PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDib3/j7f8AD+VfYZB/yLqfz/8ASmdOd/79U+X5I//Z',
  'base64',
)
/** A WebP without loss, and a GIF, of 2 by 1 pixels. */
const WEBP = Buffer.from(
  'UklGRmwAAABXRUJQVlA4TGAAAAAvAQAAEM1VICIC4YEEAAAAAACcvwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACgBxIAAAAAAHD+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAICRCQA=',
  'base64',
)
const GIF = Buffer.from('R0lGODlhAgABAIAAAP8AAAAA/ywAAAAAAgABAAACAkQKADs=', 'base64')

/** The JPEG with EXIF that says how to turn it. */
function turned(orientation: number): Buffer {
  const exif = Buffer.alloc(34)
  exif.write('Exif\0\0II*\0', 'latin1')
  exif.writeUInt32LE(8, 10)
  exif.writeUInt16LE(1, 14)
  exif.writeUInt16LE(0x0112, 16)
  exif.writeUInt16LE(3, 18)
  exif.writeUInt32LE(1, 20)
  exif.writeUInt16LE(orientation, 24)
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2])
  return Buffer.concat([JPEG.subarray(0, 2), head, exif, JPEG.subarray(2)])
}

async function encode(bytes: Uint8Array): Promise<PictureResult> {
  const script = new URL('./preview-worker.ts', import.meta.url)
  const thread = new TaskThread<PreviewTask, PictureResult>(script)
  try {
    return await thread.run({ kind: 'picture', bytes })
  } finally {
    await thread.close()
  }
}

describe('encodePicture', () => {
  for (const [name, bytes, expected] of [
    ['a JPEG', JPEG, { width: 4, height: 2, type: 'jpg' }],
    ['a WebP', WEBP, { width: 2, height: 1, type: 'png' }],
    ['a GIF', GIF, { width: 2, height: 1, type: 'png' }],
    ['a JPEG that lies on its side', turned(6), { width: 2, height: 4, type: 'jpg' }],
    ['a JPEG that is upside down', turned(3), { width: 4, height: 2, type: 'jpg' }],
  ] as const) {
    test(`encodes ${name} again, upright`, async () => {
      const encoded = await encode(bytes)
      assert.ok('name' in encoded, JSON.stringify(encoded))
      const { hash: _hash, ...facts } = encoded.name
      assert.deepEqual(facts, expected)
      assert.ok(!Buffer.from(encoded.data).includes('Exif'))
      assert.deepEqual(readPictureHeader(encoded.data)?.width, expected.width)
    })
  }

  test('encodes the same picture alike', async () => {
    assert.deepEqual(await encode(JPEG), await encode(JPEG))
  })

  for (const [name, bytes, fault] of [
    ['a page', Buffer.from('<html>'), 'format'],
    ['a BMP', Buffer.from('BM'.padEnd(100, '\0')), 'format'],
    ['a JPEG that is cut off', JPEG.subarray(0, JPEG.length / 2), 'damaged'],
    ['a JPEG without its size', JPEG.subarray(0, 20), 'format'],
    ['a WebP whose pixels are missing', WEBP.subarray(0, 30), 'damaged'],
    [
      'a GIF of 65,535 by 65,535 pixels',
      Buffer.from('GIF89a\xff\xff\xff\xff\0\0\0', 'latin1'),
      'pixels',
    ],
  ] as const) {
    test(`refuses ${name}`, async () => {
      assert.deepEqual(await encode(bytes), { fault })
    })
  }
})

describe('readPictureHeader', () => {
  test('reads the orientation, and 1 where there is none or it is wrong', () => {
    assert.equal(readPictureHeader(JPEG)?.orientation, 1)
    for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
      assert.equal(readPictureHeader(turned(orientation))?.orientation, orientation)
    }
    assert.equal(readPictureHeader(turned(9))?.orientation, 1)
  })

  test('returns undefined for every beginning of a picture that has no size yet', () => {
    for (const bytes of [JPEG, WEBP, GIF]) {
      for (let length = 0; length < 10; length += 1) {
        assert.equal(readPictureHeader(bytes.subarray(0, length)), undefined)
      }
    }
  })
})

describe('imageNameOf', () => {
  const name = `${'a'.repeat(64)}-1200x630.jpg`

  test('finds the image in its address, on any host', () => {
    const expected = { hash: 'a'.repeat(64), width: 1200, height: 630, type: 'jpg' }
    assert.deepEqual(imageNameOf(`https://go.example.com/assets/images/${name}`), expected)
    assert.deepEqual(imageNameOf(`https://localhost:3000/assets/images/${name}`), expected)
  })

  for (const url of [
    null,
    'https://go.example.com',
    `https://go.example.com/${name}`,
    `https://go.example.com/assets/images/${name}?v=1`,
    `https://go.example.com/assets/images/x/${name}`,
    `https://go.example.com/assets/images/${name.toUpperCase()}`,
    `https://go.example.com/assets/images/${name.replace('1200', '0')}`,
  ]) {
    test(`finds none in ${url}`, () => assert.equal(imageNameOf(url), undefined))
  }
})
