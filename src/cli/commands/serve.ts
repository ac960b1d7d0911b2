import { Command } from 'commander'
import { type Instance, openInstance, startNode } from '../../compose.ts'
import { type Config, readConfig } from '../../config/read-config.ts'
import { Failure } from '../../domain/failure.ts'
import { SCOPES } from '../../domain/tokens/scope.ts'
import { createLogger } from '../logger.ts'
import type { Terminal } from '../terminal.ts'

const FIRST_WORKSPACE = 'default'

export function serveCommand(terminal: Terminal): Command {
  return new Command('serve')
    .description('Serve the API and the redirects.')
    .addHelpText('after', '\nExample:\n  TERSE_PORT=8080 terse serve')
    .action(() => serve(terminal))
}

/** Serves until the process is asked to stop. */
async function serve(terminal: Terminal): Promise<void> {
  const config = readConfig()
  const log = createLogger(config.logLevel)
  const stopping = stopSignal()
  const instance = await openInstance(config, log)
  try {
    const node = await startNode(config, instance, log)
    terminal.out(greeting(config, instance, await firstToken(instance)))
    await stopping
    log.info('stopping')
    await node.stop()
  } finally {
    await instance.close()
  }
}

/**
 * Settles when the process is asked to stop. A second signal changes nothing: Ctrl-C and systemd tell
 * every process of the group, and `npm` and `bin/terse.js` pass on what they are told besides.
 */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve())
  })
}

/** The token of the first workspace, made when there is none at all. */
async function firstToken({ workspaces, tokens }: Instance): Promise<string | undefined> {
  if ((await workspaces.list()).length > 0) return undefined
  try {
    const workspace = await workspaces.create(FIRST_WORKSPACE)
    const { secret } = await tokens.create(workspace, {
      name: 'first start',
      scopes: SCOPES,
      expiresAt: null,
    })
    return secret
  } catch (error) {
    // Another process that started at the same time was faster, and has shown its token.
    if (error instanceof Failure && error.code === 'validation_failed') return undefined
    throw error
  }
}

function greeting(config: Config, instance: Instance, token: string | undefined): string {
  const { baseUrl } = config
  const database =
    config.databaseUrl === undefined ? `${instance.engine}, in the data folder` : instance.engine
  const lines = [
    `Terse is running at ${baseUrl}`,
    '',
    `  API reference  ${baseUrl}/docs`,
    `  Data folder    ${config.dataDir}`,
    `  Database       ${database}`,
  ]
  if (token !== undefined) {
    const body = JSON.stringify({
      domain: new URL(baseUrl).hostname,
      key: 'hello',
      url: 'https://example.com/',
    })
    lines.push(
      '',
      `This is the first start. The token of the workspace "${FIRST_WORKSPACE}", shown only now:`,
      '',
      `  ${token}`,
      '',
      'Make your first link:',
      '',
      `  curl ${baseUrl}/api/v1/links -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '${body}'`,
      '',
      `Then follow it: ${baseUrl}/hello`,
    )
  }
  return `${lines.join('\n')}\n`
}
