import { serveTasks } from '../../src/platform/work/task-thread.ts'

export type Task = 'crash' | 'throw' | { readonly double: number }

serveTasks((task: Task): number => {
  if (task === 'crash') process.exit(3)
  if (task === 'throw') throw Object.assign(new Error('no'), { errcode: 5 })
  return task.double * 2
})
