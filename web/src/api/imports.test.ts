import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sendParts } from './imports.ts'

const MIB = 1024 * 1024

function sender(failures: readonly number[], isTemporary = true) {
  const sent: [offset: number, bytes: number][] = []
  const reported: number[] = []
  const waits: number[] = []
  let calls = 0
  return {
    sent,
    reported,
    waits,
    async send(offset: number, part: Blob) {
      calls += 1
      if (failures.includes(calls)) throw new Error('cut off')
      sent.push([offset, part.size])
    },
    onSent: (bytes: number) => reported.push(bytes),
    isTemporary: () => isTemporary,
    async wait(attempt: number) {
      waits.push(attempt)
    },
  }
}

describe('sendParts', () => {
  const file = new Blob([new Uint8Array(9 * MIB)])

  test('sends each byte once, in parts of 4 MiB', async () => {
    const parts = sender([])
    await sendParts(file, parts)
    assert.deepEqual(parts.sent, [
      [0, 4 * MIB],
      [4 * MIB, 4 * MIB],
      [8 * MIB, MIB],
    ])
    assert.deepEqual(parts.reported, [4 * MIB, 8 * MIB, 9 * MIB])
  })

  test('sends a part again that did not arrive, and counts attempts for each part', async () => {
    const parts = sender([2, 3, 5])
    await sendParts(file, parts)
    assert.deepEqual(parts.waits, [1, 2, 1])
    assert.deepEqual(parts.reported, [4 * MIB, 8 * MIB, 9 * MIB])
  })

  test('gives up after six attempts, and at once for an error that stays', async () => {
    const parts = sender([1, 2, 3, 4, 5, 6])
    await assert.rejects(sendParts(file, parts), /cut off/)
    assert.deepEqual(parts.waits, [1, 2, 3, 4, 5])
    const refused = sender([1], false)
    await assert.rejects(sendParts(file, refused), /cut off/)
    assert.deepEqual(refused.waits, [])
  })

  test('sends an empty file as one empty part', async () => {
    const parts = sender([])
    await sendParts(new Blob([]), parts)
    assert.deepEqual(parts.sent, [[0, 0]])
  })
})
