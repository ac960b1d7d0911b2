import type { BoundSocket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import type { ZodType } from 'zod'
import { example } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { type Config, type Environment, readConfig } from '../config/config.ts'
import { processCount, retention, roleList, timeSpan } from '../config/setting-schemas.ts'
import { listeningPlaces, SOCKETS_PER_PORT, takePorts } from '../processes/listening-sockets.ts'
import { Supervisor } from '../processes/supervisor.ts'
import { FIRST_LISTENING_DESCRIPTOR, linkToSupervisor } from '../processes/supervisor-link.ts'
import { listeningFault } from '../start-faults.ts'
import { type CommandConfig, createLogger, openConfig } from './open-config.ts'

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
    const { serveNode } = await import('./serve-node.ts')
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

/** The texts of the options about backups that `terse serve` was called with. */
export type BackupOptions = {
  readonly backupTo?: string
  readonly every?: string
  readonly keep?: string
}

export function addBackupOptions(command: Command): Command {
  return command
    .option(
      '--backup-to <place>',
      'back up to this folder or s3://bucket/prefix while serving (default: TERSE_BACKUP_TO, or no backups)',
    )
    .option(
      '--every <time>',
      'the time between two backups, such as 6h (default: TERSE_BACKUP_EVERY, or 6h)',
      checkedBy(timeSpan),
    )
    .option(
      '--keep <list>',
      'which backups are kept, such as 24h,14d,8w,12m (default: TERSE_BACKUP_KEEP, or 24h,14d,8w,12m)',
      checkedBy(retention),
    )
}

function checkedBy(schema: ZodType<unknown, string>): (text: string) => string {
  const parse = parseWith(schema)
  return (text) => {
    parse(text)
    return text
  }
}

/** Returns the settings that the options set. Worker processes read them from their environment. */
export function backupSettings({ backupTo, every, keep }: BackupOptions): Environment {
  return {
    ...(backupTo !== undefined && { TERSE_BACKUP_TO: backupTo }),
    ...(every !== undefined && { TERSE_BACKUP_EVERY: every }),
    ...(keep !== undefined && { TERSE_BACKUP_KEEP: keep }),
  }
}

/** @throws where an option would have no effect, because no backups are made */
export function requirePlace(
  { every, keep }: BackupOptions,
  { backup }: Pick<Config, 'backup'>,
): void {
  if (backup.target !== undefined || (every ?? keep) === undefined) return
  throw new Error('Name where backups go: --backup-to, or the setting TERSE_BACKUP_TO.')
}

/** Returns a parser of an option's text that explains what is wrong with it as the setting's schema does. */
function parseWith<T>(schema: ZodType<T, string>): (text: string) => T {
  return (text) => {
    const parsed = schema.safeParse(text)
    if (parsed.success) return parsed.data
    const faults = parsed.error.issues.map(({ message }) => message)
    throw new InvalidArgumentError(`It ${faults.join()}.`)
  }
}

const NAME = 'worker'
const MAIN = fileURLToPath(new URL('../../../bin/terse.js', import.meta.url))

/** The module and arguments of a process that `terse serve --processes` starts; its number is appended. */
function workerProgram(roles: Config['roles']): readonly [module: string, ...args: string[]] {
  return [MAIN, NAME, roles.join()]
}

/** Internal command: one of the processes that `terse serve --processes` runs. */
export function workerCommand(terminal: Terminal): Command {
  const command = new Command(NAME).argument('<roles>').argument('<number>')
  return command.action(async (roles: string, number: string) => {
    const link = linkToSupervisor()
    try {
      const config = { ...readConfig(process.env), roles: roleList.parse(roles) }
      const { serveNode } = await import('./serve-node.ts')
      await serveNode({
        config,
        log: createLogger(config, { process: Number(number) }),
        stopping: link.stopAsked,
        onReady: link.ready,
        say: (text) => terminal.out(text),
        listenOn: listeningPlaces(config).map((_, index) => {
          const first = FIRST_LISTENING_DESCRIPTOR + index * SOCKETS_PER_PORT
          return Array.from({ length: SOCKETS_PER_PORT }, (_, nth) => ({ fd: first + nth }))
        }),
        shared: {
          number: Number(number),
          peers: link.peers,
          broadcast: link.broadcast,
          onProbed: link.probed,
        },
      })
    } finally {
      link.close()
    }
  })
}
