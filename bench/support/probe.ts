import { monitorEventLoopDelay } from 'node:perf_hooks'

/** What a measured process is asked: to begin watching its event loop, and what it has seen. */
export type Question = 'watch' | 'stall'
export type Answer = {
  /** The longest time for which the event loop stood still since `watch`; 0 before that. */
  readonly stallMs: number
}

const RESOLUTION_MS = 1

// Loaded into a server by `--import`, so that the server itself need not know that it is measured.
// Processes that it starts load this too, but have other things to talk about with their parent.
if (process.env.BENCH_PID === String(process.ppid)) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  process.on('message', (question: Question) => {
    const stallMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS)
    if (question === 'watch') {
      delay.enable()
      delay.reset()
    } else delay.disable()
    process.send?.({ stallMs } satisfies Answer)
  })
  process.channel?.unref()
}
