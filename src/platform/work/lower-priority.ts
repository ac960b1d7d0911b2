import { getPriority, setPriority } from 'node:os'

/**
 * How much is added to a thread's niceness. When it competes with a normal thread for one core, a thread
 * at `counting` gets about a quarter of the core, enough for click counting to keep up with visits. One at
 * `expensive` gets about 3 %, because several such threads may be busy at once.
 */
export const NICENESS_INCREMENTS = { counting: 5, expensive: 15 } as const
/** The lowest priority. */
const NICENESS_MAX = 19

/**
 * Lowers the priority of the calling thread. On Linux each thread has its own niceness, and 0 means the
 * caller (setpriority(2), "Bugs"). Elsewhere niceness belongs to the whole process, so nothing is changed.
 */
export function lowerPriority(increment: number): void {
  if (process.platform !== 'linux') return
  setPriority(0, Math.min(NICENESS_MAX, getPriority(0) + increment))
}
