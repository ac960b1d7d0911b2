import { parentPort } from 'node:worker_threads'
import type { TaskMessage, TaskReply } from './task-thread.ts'

/** Performs the tasks of a `TaskThread`. The thread's script calls it once. */
export function serveTasks<Task, Result>(perform: (task: Task) => Result): void {
  parentPort?.on('message', ({ id, task }: TaskMessage<Task>) => {
    let reply: TaskReply<Result>
    try {
      reply = { id, result: perform(task) }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      reply = { id, error: { message, properties: error instanceof Error ? { ...error } : {} } }
    }
    parentPort?.postMessage(reply)
  })
}
