import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { destinationOf } from '../load/traffic.ts'
import { countClicks } from '../support/count-clicks.ts'
import { createDataFolder } from '../support/data-folder.ts'
import { profilingOptions } from '../support/profiling.ts'
import {
  type MeasuredServer,
  type ServerProcess,
  startBaseline,
  startTerse,
  type TerseOptions,
} from '../support/server-process.ts'
import { startNginx } from './nginx.ts'

const COUNTED_DEADLINE_MS = 60_000
const COUNT_INTERVAL_MS = 100

/** A server in a comparison, and how to check that it did its work. */
export type Contender<S extends MeasuredServer = MeasuredServer> = {
  readonly name: string
  readonly server: S
  /** The destination of the link with this number. */
  readonly destinationOf: (link: number) => string
  /**
   * Waits until the server has counted so many more redirects.
   *
   * @throws when it does not reach that number in time, or exceeds it
   */
  settle(redirects: number): Promise<void>
  /** Stops the server and checks that it counted nothing more at the last moment. */
  stop(): Promise<void>
}

/** Terse with its own data folder, which is removed with it. */
export async function terseContender(
  name: string,
  dataDir: string,
  options: TerseOptions = {},
): Promise<Contender<ServerProcess>> {
  const clicks = counter(name, async () => countClicks(dataDir))
  await clicks.start()
  const server = await startTerse({ TERSE_DATA_DIR: dataDir }, profilingOptions(), options)
  return {
    name,
    server,
    destinationOf,
    settle: clicks.expect,
    async stop() {
      await server.stop()
      await clicks.expect(0)
      rmSync(dataDir, { recursive: true })
    },
  }
}

export async function nginxContender(program: string, links: number): Promise<Contender> {
  const folder = createDataFolder()
  const server = await startNginx(program, folder, links)
  const lines = counter('nginx', server.countLogged)
  return {
    name: 'nginx',
    server,
    destinationOf,
    settle: lines.expect,
    async stop() {
      await server.stop()
      await lines.expect(0)
      rmSync(folder, { recursive: true })
    },
  }
}

/** Counts nothing: every answer is the same. */
export async function bareContender(): Promise<Contender<ServerProcess>> {
  const server = await startBaseline(new URL('./bare-http.ts', import.meta.url))
  return {
    name: 'bare Node http',
    server,
    destinationOf: () => 'https://example.com/',
    settle: async () => undefined,
    stop: server.stop,
  }
}

/** Compares what a server has counted from now on with the expected number. */
function counter(name: string, count: () => Promise<number>) {
  let before = 0
  let expected = 0
  return {
    async start() {
      before = await count()
    },
    async expect(more: number): Promise<void> {
      expected += more
      const deadline = performance.now() + COUNTED_DEADLINE_MS
      for (;;) {
        const counted = (await count()) - before
        if (counted === expected) return
        if (counted > expected || performance.now() > deadline) {
          throw new Error(`${name} has counted ${counted} redirects and answered ${expected}`)
        }
        await sleep(COUNT_INTERVAL_MS)
      }
    },
  }
}
