import { type ChildProcess, fork } from 'node:child_process'
import type { Logger } from 'pino'
import { type Job, startPollingJob } from '../../platform/work/polling-job.ts'
import { type Instance, logUnexpected } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import type { DisabledNotice, WebhookTask } from '../workers/webhook-process.ts'
import type { WebhookMails } from './webhook-mails.ts'

const PROGRAM = new URL('../workers/webhook-process.ts', import.meta.url)
const POLL_INTERVAL_MS = 1_000
/** After a crash. */
const RESTART_MS = 2_000
/** A process that was asked to stop ends the calls under way. */
const KILL_AFTER_MS = 5_000
/** Messages of a few seconds need less than 100 MiB. */
const HEAP_MIB_MAX = 384
/**
 * Node.js looks up names in half of these threads. With 4, names that do not answer, of 100 endpoints of one workspace,
 * delay the calls of all others by minutes. 1,024 is the most, and takes 6 MiB.
 */
const THREADS = 1_024

/**
 * Runs the process that sends webhooks for as long as the instance has an enabled one. It is a process of its own, so
 * that visitors wait for no receiver, and started again when it crashes.
 */
export function startWebhooks(
  config: Config,
  instance: Pick<Instance, 'store' | 'workspaces'>,
  log: Logger,
): Job {
  const { mail, baseUrl } = config
  let mails: Promise<WebhookMails> | undefined
  let child: ChildProcess | undefined
  let startsFromMs = 0

  async function look(): Promise<void> {
    const isNeeded = await instance.store.read.webhooks.hasEnabled()
    if (!isNeeded) child?.kill('SIGTERM')
    else if (child === undefined && performance.now() >= startsFromMs) child = start()
  }

  function start(): ChildProcess {
    const started = fork(PROGRAM, [], {
      env: { ...process.env, UV_THREADPOOL_SIZE: String(THREADS) },
      execArgv: [`--max-old-space-size=${HEAP_MIB_MAX}`],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    const fail = (err: Error) => log.error({ err }, 'webhook process failed')
    started.once('error', fail)
    started.once('exit', (code, signal) => {
      child = undefined
      startsFromMs = performance.now() + RESTART_MS
      // One that is stopped while it starts does not handle the signal yet.
      if (code !== 0 && !started.killed) log.error({ code, signal }, 'webhook process crashed')
    })
    started.on('message', (notice: DisabledNotice) => {
      notify(notice).catch(logUnexpected(log, 'mail of a disabled webhook'))
    })
    started.send(taskOf(config), (error) => {
      if (error !== null) fail(error)
    })
    // It ends by itself when this process does.
    started.unref()
    started.channel?.unref()
    return started
  }

  async function notify(notice: DisabledNotice): Promise<void> {
    if (mail === undefined) return
    // Seldom needed, and much code.
    mails ??= import('./webhook-mails.ts').then(
      ({ WebhookMails }) => new WebhookMails({ mail, baseUrl, instance, log }),
    )
    await (await mails).send(notice)
  }

  const job = startPollingJob({
    work: look,
    intervalMs: POLL_INTERVAL_MS,
    message: 'webhook process not started',
    log,
    cancel: () => {},
  })
  return {
    async stop() {
      await job.stop()
      await stopChild(child)
      await (await mails)?.stop()
    },
  }
}

async function stopChild(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.ref()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  const killing = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  await promise
  clearTimeout(killing)
}

/** Without what structured clones cannot keep. */
function taskOf(config: Config): WebhookTask {
  const { trustedProxies, metricsReaders, scannerNetworks, previewNetworks, ...rest } = config
  const { webhookNetworks, ...plain } = rest
  return { config: plain as Config, allowed: webhookNetworks.cidrs }
}
