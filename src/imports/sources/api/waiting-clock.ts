import { setTimeout } from 'node:timers/promises'

/** Time, as requests that are paced and retried need it. Tests pass one that does not wait. */
export type WaitingClock = {
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** @throws the signal's reason when it is aborted */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** In [0, 1). */
  random(): number
}

export const waitingClock: WaitingClock = {
  nowMs: () => Date.now(),
  wait: async (ms, signal) => {
    await setTimeout(ms, undefined, { signal })
  },
  random: () => Math.random(),
}
