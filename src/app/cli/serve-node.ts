import type { Logger } from 'pino'
import { createFolder } from '../../platform/disk/create-folder.ts'
import type { Config } from '../config/read-config.ts'
import { openInstance } from '../instance/instance.ts'
import { checkBeforeStart } from '../instance/preflight.ts'
import { makeRoomToStart } from '../node/data-folder.ts'
import type { ListeningHandle } from '../node/entrances.ts'
import { type Stopping, startNode } from '../node/node.ts'
import type { Shared } from '../node/node-parts.ts'
import { keepsCaches } from '../node/warm-start.ts'
import { greet } from './greeting.ts'

/** Longer than requests and clicks are waited for, one after the other. */
const STOP_DEADLINE_MS = 19_500
const EXIT_LATE = 1

/**
 * Serves in this process until it is asked to stop.
 *
 * @param options.stopping settles then, with how
 * @param options.shared undefined for a process that is the whole service
 */
export async function serveNode(options: {
  config: Config
  log: Logger
  stopping: Promise<Stopping>
  onReady: (greeting: string) => void
  /** Of each place to listen on, in their order. */
  listenOn: readonly (readonly ListeningHandle[])[]
  shared?: Shared
}): Promise<void> {
  const { config, log, listenOn, shared } = options
  checkBeforeStart(config)
  await makeRoomToStart(config.dataDir)
  const instance = await openInstance(config, log, { mayBeUnavailable: keepsCaches(config) })
  try {
    createFolder(config.dataDir)
    const node = await startNode(config, instance, log, { listenOn, shared })
    options.onReady(await greet(config, instance))
    const completed = node.completed.then(() => options.stopping)
    let stopping: Stopping = { delayMs: 0 }
    try {
      stopping = await Promise.race([options.stopping, completed])
    } finally {
      log.info('stopping')
      endIn((stopping.delayMs ?? config.stopDelayMs) + STOP_DEADLINE_MS, log)
      await node.stop(stopping)
    }
  } finally {
    await instance.close()
  }
}

/** Ends the process whatever it still waits for. Nothing is lost by it: the journal is on disk. */
function endIn(ms: number, log: Logger): void {
  setTimeout(() => {
    log.fatal('stopping takes too long; what is left of the clicks waits in the journal')
    process.exit(EXIT_LATE)
  }, ms).unref()
}
