import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Task } from '../../../test/lib/task-thread-script.ts'
import { TaskThread, TaskThreadEnded } from './task-thread.ts'

describe('TaskThread', () => {
  const thread = new TaskThread<Task, number>(
    new URL('../../../test/lib/task-thread-script.ts', import.meta.url),
  )
  after(() => thread.close())

  test('returns the result of each task', async () => {
    const results = await Promise.all([thread.run({ double: 1 }), thread.run({ double: 2 })])
    assert.deepEqual(results, [2, 4])
  })

  test('rejects with the error and the properties that the script threw', async () => {
    await assert.rejects(thread.run('throw'), { message: 'no', errcode: 5 })
  })

  test('rejects the tasks that a crash interrupts, and starts again with the next task', async () => {
    const crashing = thread.run('crash')
    const behind = thread.run({ double: 1 })
    await assert.rejects(crashing, TaskThreadEnded)
    await assert.rejects(behind, TaskThreadEnded)
    assert.equal(await thread.run({ double: 3 }), 6)
  })
})
