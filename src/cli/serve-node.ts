import type { Logger } from 'pino'
import { openInstance } from '../compose/instance.ts'
import { keepsLinkCopy } from '../compose/link-copy.ts'
import { type Shared, startNode } from '../compose/node.ts'
import type { Config } from '../config/read-config.ts'
import { greet } from './greeting.ts'

/**
 * Serves in this process until it is asked to stop.
 *
 * @param options.stopping settles then, with how long idle connections are left open
 * @param options.shared undefined for a process that is the whole service
 */
export async function serveNode(options: {
  config: Config
  log: Logger
  stopping: Promise<number>
  onReady: (greeting: string) => void
  shared?: Shared
}): Promise<void> {
  const { config, log } = options
  const instance = await openInstance(config, log, { mayBeAway: keepsLinkCopy(config) })
  try {
    const node = await startNode(config, instance, log, options.shared)
    options.onReady(await greet(config, instance))
    let idleGraceMs = 0
    try {
      const completed = node.completed.then(() => options.stopping)
      idleGraceMs = await Promise.race([options.stopping, completed])
    } finally {
      log.info('stopping')
      await node.stop(idleGraceMs)
    }
  } finally {
    await instance.close()
  }
}
