import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** The fields of /proc/<pid>/stat, counted after the program's name (proc_pid_stat(5)). */
const PARENT = 1
const USER_TICKS = 11
const SYSTEM_TICKS = 12
const ENDED_USER_TICKS = 13
const ENDED_SYSTEM_TICKS = 14

/** Resources used by a server's processes: the first one and all its descendants. */
export type ProcessUsage = {
  /**
   * User and system time since their start, of all threads, in ticks of the system. Includes ended
   * children, such as a database's short-lived writers.
   */
  readonly cpuMicros: number
  /** For how long runnable threads waited for a core because of other work on the machine. */
  readonly waitedMs: number
  readonly residentMib: number
  readonly residentPeakMib: number
}

export function usageOf(pid: number): ProcessUsage {
  const usages = processTree(pid).flatMap((member) => usageOfOne(member) ?? [])
  const sum = (name: keyof ProcessUsage) => usages.reduce((total, usage) => total + usage[name], 0)
  return {
    cpuMicros: sum('cpuMicros'),
    waitedMs: sum('waitedMs'),
    residentMib: sum('residentMib'),
    residentPeakMib: sum('residentPeakMib'),
  }
}

/** Undefined for a process that has just ended; its usage is then part of its parent's. */
function usageOfOne(pid: number): ProcessUsage | undefined {
  try {
    return readUsage(pid)
  } catch {
    return undefined
  }
}

function readUsage(pid: number): ProcessUsage {
  const fields = statFields(String(pid))
  const ticks = [USER_TICKS, SYSTEM_TICKS, ENDED_USER_TICKS, ENDED_SYSTEM_TICKS]
    .map((field) => Number(fields[field]))
    .reduce((sum, ofField) => sum + ofField, 0)
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    cpuMicros: (ticks * 1e6) / TICKS_PER_SECOND,
    waitedMs: readdirSync(`/proc/${pid}/task`).reduce(
      (total, thread) => total + waitedMsOf(pid, thread),
      0,
    ),
    residentMib: mibOf(status, 'VmRSS'),
    residentPeakMib: mibOf(status, 'VmHWM'),
  }
}

/**
 * The second number of schedstat is in nanoseconds (Linux,
 * Documentation/scheduler/sched-stats.rst).
 */
function waitedMsOf(pid: number, thread: string): number {
  const [, waitedNanos] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
  return Number(waitedNanos) / 1e6
}

function mibOf(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
}

/** Follows the parents of all processes, because not every kernel lists a process's children. */
function processTree(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(name) }))
  const tree = [pid]
  for (const member of tree) {
    tree.push(...parents.filter(({ parent }) => parent === member).map((child) => child.pid))
  }
  return tree
}

/** Undefined for a process that has just ended. */
function parentOf(pid: string): number | undefined {
  try {
    return Number(statFields(pid)[PARENT])
  } catch {
    return undefined
  }
}

function statFields(pid: string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name is in brackets and may contain spaces and brackets itself.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
