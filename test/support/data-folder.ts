import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { pino } from 'pino'
import { type Instance, openInstance } from '../../src/app/composition/instance.ts'
import { type Config, readConfig } from '../../src/app/config/config.ts'
import { startNode } from '../../src/app/node/node.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Api, apiClient } from './api.ts'
import { freePort } from './free-port.ts'
import { NO_ACME } from './no-acme.ts'
import { NO_DNS } from './no-dns.ts'

/** A node that serves a data folder, in this process. */
export type RunningNode = {
  readonly port: number
  readonly instance: Instance
  readonly config: Config
  readonly api: Api
}

/**
 * Starts a node over a data folder with any content, runs `work`, and stops the node.
 *
 * @throws when the node does not start
 */
export async function serveFolder<T>(
  dataDir: string,
  work: (node: RunningNode) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const config = readConfig({
    TERSE_DATA_DIR: dataDir,
    TERSE_PORT: String(port),
    TERSE_HOST: '127.0.0.1',
    TERSE_BASE_URL: `http://localhost:${port}`,
    TERSE_RATE_LIMIT: '0',
    TERSE_DNS_SERVERS: NO_DNS,
    TERSE_ACME_DIRECTORY: NO_ACME,
  })
  const log = pino({ level: 'silent' })
  const instance = await openInstance(config, log)
  try {
    const owner = await instance.workspaces.ensure(commandLine, 'acme')
    const token = { name: 'test', scopes: SCOPES, expiresAt: null }
    const { secret } = await instance.tokens.create(commandLine(owner.id), token)
    const node = await startNode(config, instance, log)
    try {
      return await work({
        port,
        instance,
        config,
        api: apiClient(`http://127.0.0.1:${port}`, secret),
      })
    } finally {
      await node.stop()
    }
  } finally {
    await instance.close()
  }
}

/**
 * Copies a folder, or those of its files whose names match. Uses another process, because closing a
 * file here would release SQLite's locks on it.
 */
export function copyFolder(from: string, to: string, names = /./): void {
  mkdirSync(to, { recursive: true })
  const matching = readdirSync(from).filter((name) => names.test(name))
  if (matching.length === 0) return
  execFileSync('cp', ['-r', ...matching.map((name) => path.join(from, name)), to])
}
