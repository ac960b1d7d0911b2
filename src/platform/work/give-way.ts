import { getPriority, setPriority } from 'node:os'

/**
 * How much a thread gives way, as a difference in niceness. Of a core that it and a thread with work
 * both want, `counting` leaves it about a quarter, so that counted clicks keep up with visits;
 * `expensive` leaves it about 3 %, because several such threads may be busy at once.
 */
export const PRIORITY_LESS_BY = { counting: 5, expensive: 15 } as const
/** The least that there is. */
const NICENESS_MAX = 19

/**
 * Lets the system prefer the other threads of this process to the one that calls. On Linux niceness is
 * a thread's own, and 0 means the caller (setpriority(2), "Bugs"); elsewhere it would be that of the
 * whole process, so there it stays as it is.
 */
export function giveWay(lessBy: number): void {
  if (process.platform === 'linux') setPriority(0, Math.min(NICENESS_MAX, getPriority(0) + lessBy))
}
