import { getPriority, setPriority } from 'node:os'

/** Beside a thread that has work, this leaves it about a quarter of a core that both want. */
const LESS_BY = 5
/** The least that there is. */
const NICENESS_MAX = 19

/**
 * Lets the system prefer the other threads of this process to the one that calls. On Linux niceness is
 * a thread's own, and 0 means the caller (setpriority(2), "Bugs"); elsewhere it would be that of the
 * whole process, so there it stays as it is.
 */
export function giveWay(): void {
  if (process.platform === 'linux') setPriority(0, Math.min(NICENESS_MAX, getPriority(0) + LESS_BY))
}
