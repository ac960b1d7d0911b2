import { fork } from 'node:child_process'
import type { Logger } from 'pino'
import { type Import, REVIVAL } from '../../imports/import.ts'
import { ImportFiles } from '../../imports/import-files.ts'
import { ImportJobs, type ImportProcess } from '../../imports/import-jobs.ts'
import { Imports } from '../../imports/imports.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { sealing } from '../../platform/crypto/sealing.ts'
import { type Job, startPollingJob } from '../../platform/work/polling-job.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import type { Instance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import type { ImportTask } from '../workers/import-process.ts'

const PROGRAM = new URL('../workers/import-process.ts', import.meta.url)
const POLL_INTERVAL_MS = 2_000
const SWEEP_INTERVAL_MS = 60 * 60 * 1_000
/** A process that was asked to stop ends after its transaction. */
const KILL_AFTER_MS = 5_000
/** An import needs less than 80 MiB, whatever the size of its source. */
const HEAP_MIB_MAX = 384

const NOT_STARTED: ImportProcess = { ended: Promise.resolve(), stop() {}, kill() {} }

/** The imports of a node, and what runs them. */
export type NodeImports = { readonly imports: Imports; startRunning(): Job }

export function openNodeImports(config: Config, instance: Instance, log: Logger): NodeImports {
  const { store, clock, instanceKey } = instance
  const files = new ImportFiles(config.dataDir)
  let wake = () => {}
  const onDue = () => wake()
  const imports = new Imports({
    store,
    clock,
    random: systemRandom,
    sealing: sealing(deriveKey(instanceKey, 'import-settings'), systemRandom),
    files,
    onDue,
  })
  return {
    imports,
    startRunning() {
      const start = (leased: Import) => {
        try {
          const hasSettings = leased.status !== 'cancelled' && leased.source !== REVIVAL
          const settings = hasSettings ? imports.settingsOf(leased) : undefined
          return runImport({ config: sendable(config), leased, settings }, log)
        } catch (err) {
          log.error({ err, import: leased.id }, 'import process failed')
          return NOT_STARTED
        }
      }
      const jobs = new ImportJobs({
        store,
        clock,
        files,
        start,
        onFree: onDue,
        onHung: ({ id }) => log.error({ import: id }, 'import process hung'),
        onGivenUp: ({ id, attempts }) => log.error({ import: id, attempts }, 'import given up'),
      })
      const job = startPollingJob({
        work: () => jobs.startDue(),
        intervalMs: POLL_INTERVAL_MS,
        message: 'import job failed',
        log,
        cancel: () => {},
      })
      wake = job.wake
      const sweep = () =>
        files
          .sweep((fileIds) => imports.filesNeededAmong(fileIds))
          .catch((err: unknown) => log.warn({ err }, 'removing old import files failed'))
      const sweeping = setInterval(sweep, SWEEP_INTERVAL_MS)
      sweeping.unref()
      return {
        async stop() {
          clearInterval(sweeping)
          await job.stop()
          await jobs.stop()
        },
      }
    },
  }
}

/** Without what structured clones cannot keep, which an import does not need. */
function sendable(config: Config): Config {
  const { trustedProxies, metricsReaders, ...rest } = config
  return rest as Config
}

/** A process of its own: reading and parsing would delay visits, and its priority is lower. */
function runImport(task: ImportTask, log: Logger): ImportProcess {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const child = fork(PROGRAM, [], {
    execArgv: [`--max-old-space-size=${HEAP_MIB_MAX}`],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  const fail = (err: Error) => {
    log.error({ err, import: task.leased.id }, 'import process failed')
    resolve()
  }
  child.once('error', fail)
  let isStopping = false
  child.once('exit', (code, signal) => {
    if (code !== 0 && !isStopping)
      log.error({ code, signal, import: task.leased.id }, 'import process crashed')
    resolve()
  })
  child.send(task, (error) => {
    if (error !== null) fail(error)
  })
  return {
    ended,
    stop() {
      isStopping = true
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref()
    },
    kill() {
      child.kill('SIGKILL')
    },
  }
}
