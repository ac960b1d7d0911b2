import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findTool } from './tools.ts'

const taskset = findTool('taskset')
const allowed = allowedCores()

/** The core of the servers, one of which works at a time, and the core of the load. */
export const SERVER_CORE = allowed[0] ?? 0
export const LOAD_CORE = allowed.at(-1) ?? SERVER_CORE
/** The cores of two processes of one server. On a machine with two cores the load shares them. */
export const PAIR_CORES = allowed.slice(0, 2)

/** What a reader of the results must know about the above. */
export const PINNING =
  taskset === undefined
    ? 'taskset is not installed: nothing is bound to a core'
    : LOAD_CORE === SERVER_CORE
      ? `one core (${SERVER_CORE}) for servers and load`
      : `servers on core ${SERVER_CORE}, load on core ${LOAD_CORE}`

/**
 * A command that runs another on some cores, as the started process itself and not as its child.
 */
export function onCores(
  cores: readonly number[],
  program: string,
  args: readonly string[],
): [string, string[]] {
  if (taskset === undefined) return [program, [...args]]
  return [taskset, ['--cpu-list', cores.join(','), program, ...args]]
}

/** Keeps this process, its threads and its children off the servers' core. */
export function leaveServerCore(): void {
  if (taskset === undefined) return
  execFileSync(taskset, ['--all-tasks', '--pid', '--cpu-list', String(LOAD_CORE), `${process.pid}`])
}

/** The cores that the system lets this process use; in a container these may be any. */
function allowedCores(): number[] {
  const status = readFileSync('/proc/self/status', 'utf8')
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? ''
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
