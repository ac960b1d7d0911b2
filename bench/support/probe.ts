import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Requests to a measured process: to start watching its event loop, and to report. */
export type Question = 'watch' | 'stall'
export type Answer = {
  /** The longest stall of the event loop since `watch`; 0 before that. */
  readonly stallMs: number
}

const RESOLUTION_MS = 1

// Loaded into a server by `--import`, so that the server itself does not know that it is measured.
// Its child processes load this too, but use the channel to their parent for other messages.
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
