import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { createLogger } from '../cli/logger.ts'
import { listeningPlaces } from '../config/listening-places.ts'
import { type Config, readConfig } from '../config/read-config.ts'
import { roleList } from '../config/setting-schemas.ts'
import { SOCKETS_PER_PORT } from '../processes/listening-sockets.ts'
import { FIRST_LISTENING_DESCRIPTOR, linkToSupervisor } from '../processes/supervisor-link.ts'

const NAME = 'worker'
const MAIN = fileURLToPath(new URL('../../../bin/terse.js', import.meta.url))

/** The module and arguments of a process that `terse serve --processes` starts; its number is appended. */
export function workerProgram(
  roles: Config['roles'],
): readonly [module: string, ...args: string[]] {
  return [MAIN, NAME, roles.join()]
}

/** Internal command: one of the processes that `terse serve --processes` runs. */
export function workerCommand(terminal: Terminal): Command {
  const command = new Command(NAME).argument('<roles>').argument('<number>')
  return command.action(async (roles: string, number: string) => {
    const link = linkToSupervisor()
    try {
      const config = { ...readConfig(process.env), roles: roleList.parse(roles) }
      const { serveNode } = await import('../cli/serve-node.ts')
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
