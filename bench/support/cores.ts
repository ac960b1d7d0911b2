import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findTool } from './tools.ts'

const taskset = findTool('taskset')
const allowed = allowedCores()

/** Where the servers run, one at work at a time, and where the load comes from. */
export const SERVER_CORE = allowed[0] ?? 0
export const LOAD_CORE = allowed.at(-1) ?? SERVER_CORE
/** Where two processes of one server run. On a machine with two cores the load is among them. */
export const PAIR_CORES = allowed.slice(0, 2)

/** What a reader of the results must know of the above. */
export const PINNING =
  taskset === undefined
    ? 'taskset is not installed: nothing is bound to a core'
    : LOAD_CORE === SERVER_CORE
      ? `one core (${SERVER_CORE}) for servers and load`
      : `servers on core ${SERVER_CORE}, load on core ${LOAD_CORE}`

/** A command that runs another on some cores alone, as the process that is started and no child of it. */
export function onCores(
  cores: readonly number[],
  program: string,
  args: readonly string[],
): [string, string[]] {
  if (taskset === undefined) return [program, [...args]]
  return [taskset, ['--cpu-list', cores.join(','), program, ...args]]
}

/** Keeps this process, its threads and what it starts away from the servers' core. */
export function leaveServerCore(): void {
  if (taskset === undefined) return
  execFileSync(taskset, ['--all-tasks', '--pid', '--cpu-list', String(LOAD_CORE), `${process.pid}`])
}

/** The cores that the system lets this process use, which in a container may be any. */
function allowedCores(): number[] {
  const status = readFileSync('/proc/self/status', 'utf8')
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? ''
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
