import { accessSync, constants, existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { journalsRoot } from '../../clicks/journal/journal-folder.ts'
import { createFolder } from '../../platform/disk/folder.ts'
import { NewSpace } from '../../platform/process/new-space.ts'
import { userName } from '../../platform/process/user-name.ts'
import { logUnexpected, openInstance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import { keepsCaches } from '../node/caches.ts'
import { makeRoomToStart } from '../node/data-folder.ts'
import type { ListeningHandle } from '../node/entrances.ts'
import { type Shared, type Stopping, startNode } from '../node/node.ts'
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
      const { checkBackups } = await import('../../backup/place.ts')
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

const ELSEWHERE = 'name another one with --data-dir or TERSE_DATA_DIR'

/**
 * Checks what a start needs of the file system, before the start creates anything there.
 *
 * @throws an error that says in one line what is wrong and what to do about it
 */
function checkBeforeStart({ dataDir, countryDatabase, acme, tls }: Config): void {
  checkDataFolder(dataDir)
  checkFile('TERSE_COUNTRY_DATABASE', countryDatabase)
  if (tls !== undefined) checkFile('TERSE_ACME_CA_FILE', acme.caFile)
}

function checkDataFolder(dataDir: string): void {
  const existing = nearestExisting(dataDir)
  if (!statSync(existing).isDirectory()) {
    throw new Error(
      `The data folder ${dataDir} cannot be created: ${existing} is a file. Remove it, or ${ELSEWHERE}.`,
    )
  }
  if (existing !== dataDir) {
    const code = faultOf(existing, constants.W_OK | constants.X_OK)
    if (code === undefined) return
    throw new Error(
      `The user ${userName()} cannot create the data folder ${dataDir} (${code}). Create it and give it to that user, or ${ELSEWHERE}.`,
    )
  }
  for (const folder of [dataDir, journalsRoot(dataDir)].filter((each) => existsSync(each))) {
    const code = faultOf(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if (code === undefined) continue
    throw new Error(
      `The user ${userName()} cannot write to the folder ${folder} (${code}). Give it to that user, or ${ELSEWHERE}.`,
    )
  }
}

/** Returns the folder or its nearest existing parent. A folder without access counts as missing. */
function nearestExisting(folder: string): string {
  const parent = path.dirname(folder)
  return existsSync(folder) || parent === folder ? folder : nearestExisting(parent)
}

function checkFile(variable: string, file: string | undefined): void {
  const code = file === undefined ? undefined : faultOf(file, constants.R_OK)
  if (code !== undefined) {
    throw new Error(
      `${variable} names a file that the user ${userName()} cannot read (${code}): ${file}`,
    )
  }
}

/** Returns the error code of an access that is not allowed; undefined when it is. */
function faultOf(file: string, mode: number): unknown {
  try {
    accessSync(file, mode)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}
