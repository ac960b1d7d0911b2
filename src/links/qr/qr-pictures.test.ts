import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { commandLine } from '../../identity/actor.ts'
import { FairQueue, QueueRefusal, WorkQueues } from '../../platform/work/fair-queue.ts'
import { BLACK, type QrTask } from './qr-code.ts'
import { openQrPictures, QR_QUEUE, QrPictures, qrEntityTag } from './qr-pictures.ts'

const RED = { red: 200, green: 0, blue: 0 }

function task(text: string, others: Partial<QrTask> = {}): QrTask {
  return {
    text,
    color: BLACK,
    format: 'png',
    size: undefined,
    margin: 4,
    level: 'M',
    logo: undefined,
    ...others,
  }
}

/** Pictures whose rendering waits until the test releases it, one after the other. */
function picturesByHand() {
  const rendered: string[] = []
  const releases: (() => void)[] = []
  const pictures = new QrPictures({
    queue: new FairQueue(QR_QUEUE),
    async render({ text }: QrTask) {
      rendered.push(text)
      await new Promise<void>((resolve) => releases.push(resolve))
      return { picture: Buffer.from(text) }
    },
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    pictures,
    rendered,
    async releaseAll() {
      await turn()
      for (;;) {
        const release = releases.shift()
        if (release === undefined) return
        release()
        await turn()
      }
    },
  }
}

describe('QrPictures', () => {
  test('renders a picture once for each text and colour, also for concurrent requests', async () => {
    const { pictures, rendered, releaseAll } = picturesByHand()
    const pictureRequests = [
      pictures.get(commandLine('a'), task('x')),
      pictures.get(commandLine('a'), task('x')),
      pictures.get(commandLine('a'), task('x', { color: RED })),
    ]
    await releaseAll()
    await Promise.all(pictureRequests)
    assert.deepEqual(rendered, ['x', 'x'])
    assert.equal(String(await pictures.get(commandLine('a'), task('x'))), 'x')
    assert.equal(rendered.length, 2)
  })

  test('renders one picture of each workspace in turn', async () => {
    const { pictures, rendered, releaseAll } = picturesByHand()
    const pictureRequests = ['a1', 'a2', 'a3', 'b1'].map((text) =>
      pictures.get(commandLine(text.charAt(0)), task(text)),
    )
    await releaseAll()
    await Promise.all(pictureRequests)
    assert.deepEqual(rendered, ['a1', 'a2', 'b1', 'a3'])
  })

  test('refuses a workspace that has too many pictures waiting', async () => {
    const { pictures, releaseAll } = picturesByHand()
    const all = Array.from({ length: QR_QUEUE.waitingPerOwnerMax + 2 }, (_, index) =>
      pictures.get(commandLine('a'), task(String(index))),
    )
    const answers = Promise.allSettled(all)
    await releaseAll()
    const refused = (await answers).filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 1)
    assert.ok(refused[0]?.status === 'rejected' && refused[0].reason instanceof QueueRefusal)
  })

  test('gives equal pictures the same entity tag, and different pictures different ones', () => {
    const tag = qrEntityTag(task('x'))
    assert.equal(qrEntityTag(task('x', { color: { ...BLACK } })), tag)
    assert.notEqual(qrEntityTag(task('y')), tag)
    for (const others of [
      { color: RED },
      { format: 'svg' },
      { size: 480 },
      { margin: 3 },
      { level: 'H' },
    ] as const) {
      assert.notEqual(qrEntityTag(task('x', others)), tag, JSON.stringify(others))
    }
  })
})

test('a rendered QR code keeps no more memory than its own bytes', async (t) => {
  const { pictures, close } = openQrPictures(new WorkQueues())
  t.after(close)
  for (const format of ['png', 'svg'] as const) {
    const picture = await pictures.get(
      commandLine('acme'),
      task('https://go.acme.com/a', { format }),
    )
    assert.equal(picture.buffer.byteLength, picture.byteLength)
  }
})
