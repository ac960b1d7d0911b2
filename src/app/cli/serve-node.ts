import type { Logger } from 'pino'
import { createFolder } from '../../platform/disk/folder.ts'
import { NewSpace } from '../../platform/process/new-space.ts'
import type { Config } from '../config/read-config.ts'
import { logUnexpected } from '../instance/app-context.ts'
import { openInstance } from '../instance/instance.ts'
import { checkBeforeStart } from '../instance/preflight.ts'
import { makeRoomToStart } from '../node/data-folder.ts'
import type { ListeningHandle } from '../node/entrances.ts'
import { type Stopping, startNode } from '../node/node.ts'
import type { Shared } from '../node/node-parts.ts'
import { keepsCaches } from '../node/warm-start.ts'
import { greet, greetLater } from './greeting.ts'

/** Longer than the time limits for finishing requests and for ingesting clicks, added up. */
const STOP_DEADLINE_MS = 19_500
const EXIT_LATE = 1

/**
 * Serves in this process until it is asked to stop.
 *
 * @param options.stopping settles when the process is to stop, with how
 * @param options.shared undefined for a process that is the whole service
 */
export async function serveNode(options: {
  config: Config
  log: Logger
  stopping: Promise<Stopping>
  onReady: (greeting: string) => void
  /** Shows text to the operator that follows the greeting. */
  say: (text: string) => void
  /** The sockets of each of the `listeningPlaces`, in their order. */
  listenOn: readonly (readonly ListeningHandle[])[]
  shared?: Shared
}): Promise<void> {
  const { config, log, listenOn, shared } = options
  checkBeforeStart(config)
  const isFirst = shared === undefined || shared.number === 1
  if (isFirst) {
    warnOfPlainHttp(config, log)
    if (config.backup.target !== undefined) {
      const { checkBackups } = await import('../backup/check-backups.ts')
      await checkBackups(config)
    }
  }
  await makeRoomToStart(config.dataDir)
  const instance = await openInstance(config, log, { mayBeUnavailable: keepsCaches(config) })
  try {
    createFolder(config.dataDir)
    const newSpace = new NewSpace()
    const onApiRequest = () => newSpace.noteApiRequest()
    const node = await startNode(config, instance, log, { listenOn, shared, onApiRequest })
    const completed = node.completed.then(() => options.stopping)
    let stopping: Stopping = { delayMs: 0 }
    const ending = new AbortController()
    try {
      const greeting = await greet(config, instance)
      options.onReady(greeting.text)
      if (isFirst) {
        greetLater(greeting, config, instance, {
          say: options.say,
          signal: ending.signal,
        }).catch(logUnexpected(log, 'greeting'))
      }
      newSpace.growToServe()
      stopping = await Promise.race([options.stopping, completed])
    } finally {
      ending.abort()
      log.info('stopping')
      endIn((stopping.delayMs ?? config.stopDelayMs) + STOP_DEADLINE_MS, log)
      await node.stop(stopping)
    }
  } finally {
    await instance.close()
  }
}

/** Over plain HTTP, anyone on the network path can read passwords and sessions. */
function warnOfPlainHttp({ baseUrl }: Config, log: Logger): void {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:' || isLoopback(hostname)) return
  log.warn({ baseUrl }, 'people sign in over plain HTTP')
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** Ends the process after `ms`, whatever it waits for. No click is lost: what is not ingested is in the journal. */
function endIn(ms: number, log: Logger): void {
  setTimeout(() => {
    log.fatal('stop deadline exceeded')
    process.exit(EXIT_LATE)
  }, ms).unref()
}
