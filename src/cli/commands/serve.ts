import { Command, InvalidArgumentError } from 'commander'
import type { ZodType } from 'zod'
import { listeningPlaces } from '../../config/listening-places.ts'
import { type Config, readConfig } from '../../config/read-config.ts'
import { processCount, roleList } from '../../config/setting-schemas.ts'
import { Supervisor } from '../../processes/supervisor.ts'
import { createLogger } from '../logger.ts'
import type { Terminal } from '../terminal.ts'
import { workerProgram } from './worker.ts'

export function serveCommand(terminal: Terminal): Command {
  return new Command('serve')
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
    .addHelpText(
      'after',
      '\nSIGHUP replaces several processes one after the other, without failing a request.\n' +
        '\nExample:\n  TERSE_PORT=8080 terse serve --processes 2',
    )
    .action(async (options: { processes?: number; roles?: Config['roles'] }) => {
      const read = readConfig()
      const config = { ...read, roles: options.roles ?? read.roles }
      const count = options.processes ?? config.processes
      await (count === 1 ? serve(config, terminal) : superviseProcesses(config, count, terminal))
    })
}

function parseWith<T>(schema: ZodType<T, string>): (text: string) => T {
  return (text) => {
    const parsed = schema.safeParse(text)
    if (parsed.success) return parsed.data
    const faults = parsed.error.issues.map(({ message }) => message)
    throw new InvalidArgumentError(`It ${faults.join()}.`)
  }
}

/** Serves until the process is asked to stop. */
async function serve(config: Config, terminal: Terminal): Promise<void> {
  const stopping = stopSignal(['SIGTERM', 'SIGINT'])
  const { serveNode } = await import('../serve-node.ts')
  await serveNode({
    config,
    log: createLogger(config.logLevel),
    stopping: stopping.then(() => ({})),
    onReady: (greeting) => terminal.out(greeting),
  })
}

/** Has others serve until the process is asked to stop, and loads nothing of what they need. */
async function superviseProcesses(
  config: Config,
  count: number,
  terminal: Terminal,
): Promise<void> {
  const log = createLogger(config.logLevel)
  const supervisor = await Supervisor.open({
    count,
    stopDelayMs: config.stopDelayMs,
    addresses: listeningPlaces(config),
    program: workerProgram(config.roles),
    log,
  })
  // A terminal that is closed says so with SIGHUP; what it started must not go on behind its back.
  const hangsUp = process.stdin.isTTY
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

/**
 * Settles when the process is asked to stop. A second signal changes nothing: Ctrl-C and systemd tell
 * every process of the group, and `npm` and `bin/terse.js` pass on what they are told besides.
 */
function stopSignal(signals: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve())
  })
}
