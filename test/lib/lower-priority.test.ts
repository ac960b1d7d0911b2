import assert from 'node:assert/strict'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

const MODULE = new URL('../../src/platform/work/task-thread.ts', import.meta.url)

/** Reports its niceness after it has called lowerPriority this many times. */
function startThread(times: number): Worker {
  const program = `
    const { getPriority } = await import('node:os')
    const { parentPort } = await import('node:worker_threads')
    const { lowerPriority } = await import(${JSON.stringify(MODULE.href)})
    for (let count = 0; count < ${times}; count += 1) lowerPriority(5)
    parentPort.postMessage(getPriority(0))`
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`))
}

test('lowerPriority raises the niceness of the calling thread alone, up to the system’s maximum', {
  skip: process.platform !== 'linux' && 'only Linux has a niceness for each thread',
}, async () => {
  const before = getPriority(0)
  for (const [times, expected] of [
    [1, before + 5],
    [9, 19],
  ] as const) {
    const [niceness] = await once(startThread(times), 'message')
    assert.equal(niceness, expected)
    assert.equal(getPriority(0), before)
  }
})
