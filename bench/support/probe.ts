import { monitorEventLoopDelay } from 'node:perf_hooks'

/** What a measured process is asked, and what it answers. */
export type Question = 'cpu' | 'watch' | 'stall'
export type Answer = {
  /** User and system time of the whole process since its start. */
  readonly cpuMicros: number
  /** The longest time for which the event loop stood still since `watch`; 0 before that. */
  readonly stallMs: number
}

const RESOLUTION_MS = 1

// Loaded into a server by `--import`, so that the server itself need not know that it is measured.
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

process.on('message', (question: Question) => {
  if (question === 'watch') {
    delay.enable()
    delay.reset()
  }
  const { user, system } = process.cpuUsage()
  const stallMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS)
  process.send?.({ cpuMicros: user + system, stallMs } satisfies Answer)
})
process.channel?.unref()
