import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { ReadStream } from 'node:tty'
import { readSecret } from './terminal.ts'

describe('readSecret', () => {
  test('hides what is typed before it asks, and shows it again afterwards', async () => {
    const steps: string[] = []
    const input = Object.assign(Readable.from(['wrong\u007f', 'er\r']), {
      isTTY: true,
      setRawMode: (isRaw: boolean) => steps.push(isRaw ? 'hidden' : 'visible'),
    }) as unknown as ReadStream
    const secret = await readSecret(input, 'Token: ', (text) => steps.push(text))
    assert.equal(secret, 'wroner')
    assert.deepEqual(steps, ['hidden', 'Token: ', 'visible', '\n'])
  })
})
