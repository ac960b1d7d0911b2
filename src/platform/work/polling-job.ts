import type { Logger } from 'pino'

/** Background work that repeats for as long as a node runs. */
export type Job = { stop(): Promise<void> }

/**
 * Runs `work` now, every `intervalMs`, and on `wake`; never twice at once. Work that fails is retried.
 *
 * @param options.message the log message when `work` fails; repeated failures are logged once, until it
 *   succeeds
 * @param options.cancel ends the work under way
 */
export function startPollingJob(options: {
  work: () => Promise<void>
  intervalMs: number
  message: string
  log: Logger
  cancel: () => void
}): Job & { wake(): void } {
  const { work, message, log } = options
  let running: Promise<void> | undefined
  let mustRunAgain = false
  let isFailing = false
  let isStopped = false

  async function run(): Promise<void> {
    do {
      mustRunAgain = false
      try {
        await work()
        isFailing = false
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, message)
        isFailing = true
      }
    } while (mustRunAgain && !isStopped)
    running = undefined
  }

  function wake(): void {
    if (isStopped) return
    mustRunAgain = true
    running ??= run()
  }

  wake()
  const polling = setInterval(wake, options.intervalMs)
  polling.unref()
  return {
    wake,
    async stop() {
      isStopped = true
      clearInterval(polling)
      options.cancel()
      await running
    },
  }
}
