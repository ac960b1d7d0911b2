import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import { type Instance, openInstance } from '../../src/app/composition/instance.ts'
import { type Config, readConfig } from '../../src/app/config/config.ts'
import { type Node, startNode } from '../../src/app/node/node.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Api, apiClient } from '../support/api.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { NO_DNS } from '../support/no-dns.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const STARTED_WITHIN_MS = 60_000

/** A node of the service with its own proxy to the database. */
export type ClusterNode = {
  readonly port: number
  readonly network: TcpProxy
  readonly instance: Instance
  api(token: string): Api
}

/** Several nodes on one database, in this process. */
export type Cluster = {
  readonly nodes: readonly ClusterNode[]
  token(workspace: string): Promise<string>
  /** Stops all nodes after their clicks are ingested. */
  stop(): Promise<void>
}

export async function startCluster(
  count: number,
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const secretKey = randomBytes(32).toString('hex')
  const started: Awaited<ReturnType<typeof startOne>>[] = []
  // One after the other: together they would wait longer for each other than a query may take.
  while (started.length < count) started.push(await startOne(databaseUrl, secretKey, settings))
  return {
    nodes: started,
    token: (workspace) =>
      eventually(async () => {
        const { workspaces, tokens } = started[0]?.instance ?? noNode()
        const owner = await workspaces.ensure(commandLine, workspace)
        const options = { name: 'test', scopes: SCOPES, expiresAt: null }
        return (await tokens.create(commandLine(owner.id), options)).secret
      }),
    async stop() {
      await Promise.all(started.map(({ stop }) => stop()))
    },
  }
}

async function startOne(
  databaseUrl: string,
  secretKey: string,
  settings: Readonly<Record<string, string>>,
): Promise<ClusterNode & { stop(): Promise<void> }> {
  const url = new URL(databaseUrl)
  const network = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(network.port)
  const dataDir = createFolder()
  const port = await freePort()
  const config = readConfig({
    TERSE_PORT: String(port),
    TERSE_HOST: '127.0.0.1',
    TERSE_BASE_URL: 'http://localhost',
    TERSE_RATE_LIMIT: '0',
    TERSE_CLICK_CAP_PER_MINUTE: '0',
    TERSE_RAW_CLICKS_PER_MINUTE: '0',
    TERSE_DNS_SERVERS: NO_DNS,
    TERSE_DATA_DIR: dataDir,
    TERSE_DATABASE_URL: url.href,
    TERSE_SECRET_KEY: secretKey,
    ...settings,
  })
  const log = pino({ level: process.env.FAULT_LOG ?? 'silent' })
  const { instance, node } = await eventually(() => openNode(config, log), STARTED_WITHIN_MS)
  return {
    port,
    network,
    instance,
    api: (token) => apiClient(`http://127.0.0.1:${port}`, token),
    async stop() {
      // Idle connections of the tests need no grace period.
      await node.stop({ idleGraceMs: 0 })
      await instance.close()
      await network.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Throws when the database does not answer in time, which may happen on a busy machine. */
async function openNode(config: Config, log: Logger): Promise<{ instance: Instance; node: Node }> {
  const instance = await openInstance(config, log)
  try {
    return { instance, node: await startNode(config, instance, log) }
  } catch (error) {
    await instance.close()
    throw error
  }
}

function noNode(): never {
  throw new Error('the cluster has no node')
}
