import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until the time is over or the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}
