import type { Logger } from 'pino'

/** Something that is done again and again for as long as a node runs. */
export type Job = { stop(): Promise<void> }

/**
 * Runs `work` now, each `intervalMs`, and when it is asked to; never twice at once.
 *
 * @param options.message for the log, where `work` failed; it is tried again, and what fails again and
 *   again is logged once until it works
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
  let isAskedAgain = false
  let isFailing = false
  let isStopped = false

  async function run(): Promise<void> {
    do {
      isAskedAgain = false
      try {
        await work()
        isFailing = false
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, message)
        isFailing = true
      }
    } while (isAskedAgain && !isStopped)
    running = undefined
  }

  function wake(): void {
    if (isStopped) return
    isAskedAgain = true
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
