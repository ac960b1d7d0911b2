import assert from 'node:assert/strict'
import type { ServiceProcess } from './service-process.ts'

/** A line of the supervisor's log about a worker. */
type Started = { readonly process: number; readonly pid: number }

/** Every process that has become ready so far, in that order, from the log. */
export function startedWorkers({ output }: ServiceProcess): Started[] {
  return output()
    .stderr.split('\n')
    .filter((line) => line.includes('"process started"'))
    .map((line) => JSON.parse(line))
}

/** The processes that serve now: the newest of each number. */
export function workerPids(service: ServiceProcess): number[] {
  const newest = new Map<number, number>()
  for (const { process, pid } of startedWorkers(service)) newest.set(process, pid)
  return [...newest.values()]
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export function assertAlive(pids: readonly number[], alive: boolean): void {
  for (const pid of pids) assert.equal(isAlive(pid), alive, `process ${pid}`)
}
