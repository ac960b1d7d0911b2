import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../identity/actor.ts'
import { BLACK } from '../../links/qr/qr-code.ts'
import { WorkQueues } from '../../platform/work/work-queues.ts'
import { openQrPictures } from './qr-pictures.ts'

test('a rendered QR code keeps no more memory than its own bytes', async (t) => {
  const { pictures, close } = openQrPictures(new WorkQueues())
  t.after(close)
  for (const format of ['png', 'svg'] as const) {
    const picture = await pictures.get(commandLine('acme'), {
      text: 'https://go.acme.com/a',
      color: BLACK,
      format,
      size: undefined,
      margin: 4,
      level: 'M',
      logo: undefined,
    })
    assert.equal(picture.buffer.byteLength, picture.byteLength)
  }
})
