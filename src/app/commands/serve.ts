import type { BoundSocket } from 'node:net'
import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { listeningFault } from '../cli/listening-fault.ts'
import { type CommandConfig, openConfig } from '../cli/open-config.ts'
import { listeningPlaces } from '../config/listening-places.ts'
import type { Config } from '../config/read-config.ts'
import { processCount, roleList } from '../config/setting-schemas.ts'
import { takePorts } from '../processes/listening-sockets.ts'
import { Supervisor } from '../processes/supervisor.ts'
import {
  addBackupOptions,
  type BackupOptions,
  backupSettings,
  requirePlace,
} from './backup-options.ts'
import { parseWith } from './parse-with.ts'
import { workerProgram } from './worker.ts'

type ServeOptions = BackupOptions & {
  readonly processes?: number
  readonly roles?: Config['roles']
}

export function serveCommand(terminal: Terminal): Command {
  const command = new Command('serve')
    .description('Serve the API and the redirects.')
    .option(
      '--processes <count>',
      'how many processes serve on the port, or auto: one for each core (default: TERSE_PROCESSES, or 1)',
      parseWith(processCount),
    )
    .option(
      '--roles <list>',
      'what this node does: some of redirect, api and jobs (default: TERSE_ROLES, or all)',
      parseWith(roleList),
    )
  return addBackupOptions(command)
    .addHelpText(
      'after',
      '\nSIGHUP replaces several processes one after the other, without failing a request.',
    )
    .addHelpText(
      'after',
      example(
        'serve --processes 2',
        'serve --backup-to /mnt/backup/terse --every 6h --keep 24h,14d,8w,12m',
      ),
    )
    .action(async (options: ServeOptions) => {
      const read = openConfig(backupSettings(options))
      requirePlace(options, read.config)
      const config = { ...read.config, roles: options.roles ?? read.config.roles }
      const count = options.processes ?? config.processes
      const command = { ...read, config }
      try {
        await (count === 1 ? serve(command, terminal) : supervise(command, count, terminal))
      } catch (error) {
        throw listeningFault(config, error)
      }
    })
}

/** Serves until the process is asked to stop. */
async function serve({ config, log }: CommandConfig, terminal: Terminal): Promise<void> {
  const hangsUp = isInTerminal()
  const stopping = stopSignal(['SIGTERM', 'SIGINT', ...(hangsUp ? ['SIGHUP'] : [])])
  if (!hangsUp) {
    const reason = 'a single process cannot be replaced; run with --processes 2 or more'
    process.on('SIGHUP', () => log.warn({ reason }, 'reload ignored'))
  }
  // Before anything is created in the data folder: a start that fails leaves nothing behind.
  const sockets = await takePorts(listeningPlaces(config))
  try {
    const { serveNode } = await import('../cli/serve-node.ts')
    await serveNode({
      config,
      log,
      stopping: stopping.then(() => ({})),
      onReady: (greeting) => terminal.out(greeting),
      say: (text) => terminal.out(text),
      listenOn: sockets,
    })
  } finally {
    for (const socket of sockets.flat()) closeUnused(socket)
  }
}

/** Closes a socket, unless a server has adopted it: the server closes those. */
function closeUnused(socket: BoundSocket): void {
  try {
    socket.close()
  } catch (error) {
    if (!hasErrorCode(error, 'ERR_SOCKET_HANDLE_ADOPTED')) throw error
  }
}

/** Runs worker processes until this process is asked to stop. Loads none of the code that serves. */
async function supervise(
  { config, env, log }: CommandConfig,
  count: number,
  terminal: Terminal,
): Promise<void> {
  const supervisor = await Supervisor.open({
    count,
    stopDelayMs: config.stopDelayMs,
    addresses: listeningPlaces(config),
    program: workerProgram(config.roles),
    env,
    log,
  })
  const hangsUp = isInTerminal()
  const stopping = stopSignal(['SIGTERM', 'SIGINT', ...(hangsUp ? ['SIGHUP'] : [])])
  if (!hangsUp) process.on('SIGHUP', () => supervisor.restart())
  const greeting = await supervisor.start()
  if (greeting === undefined) {
    process.exitCode = 1
    return
  }
  terminal.out(greeting)
  await stopping
  log.info('stopping')
  if (!(await supervisor.stop())) process.exitCode = 1
}

/** In a terminal, SIGHUP means that the terminal was closed: the service must then stop. */
function isInTerminal(): boolean {
  return process.stdin.isTTY
}

/**
 * Settles at the first of the signals. Ignores further ones: Ctrl-C and systemd signal every process of
 * the group, and `npm` and `bin/terse.js` forward the same signal.
 */
function stopSignal(signals: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve())
  })
}
