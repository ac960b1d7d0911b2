import { fork } from 'node:child_process'
import type { TaskOutcome, TaskRequest, Tasks } from './task-process.ts'

const PROGRAM = new URL('./task-process.ts', import.meta.url)

/**
 * Performs a task in a process of its own, of the lowest priority, and returns its result.
 *
 * @param options.stop kills the process
 * @param options.isBackground whether this process may end before the task does, which then ends too
 * @throws with what to do when the task fails, and when its process ends without a result
 */
export function runTask<Name extends keyof Tasks>(
  name: Name,
  input: Parameters<Tasks[Name]>[0],
  options: { readonly stop?: AbortSignal | undefined; readonly isBackground?: boolean } = {},
): Promise<Awaited<ReturnType<Tasks[Name]>>> {
  const { stop, isBackground = false } = options
  return new Promise((resolve, reject) => {
    const child = fork(PROGRAM, [], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
      killSignal: 'SIGKILL',
      ...(stop && { signal: stop }),
    })
    if (isBackground) {
      child.unref()
      child.channel?.unref()
    }
    child.once('message', (outcome: TaskOutcome<Awaited<ReturnType<Tasks[Name]>>>) => {
      if ('result' in outcome) resolve(outcome.result)
      else reject(new Error(outcome.fault))
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      reject(new Error(`The process of the task ${name} ended with ${signal ?? code}.`))
    })
    const request: TaskRequest<Name> = { name, input }
    child.send(request, (error) => {
      if (error !== null) reject(error)
    })
  })
}
