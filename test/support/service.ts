import { pino } from 'pino'
import { type Instance, openInstance, servicesOver } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { startNode } from '../../src/app/node/node.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES, type Scope } from '../../src/identity/permissions.ts'
import { argon2id } from '../../src/platform/passwords/argon2id.ts'
import {
  HASH_QUEUE,
  type OpenedPasswordHasher,
  openPasswordHasher,
  PasswordHasher,
} from '../../src/platform/passwords/password-hasher.ts'
import type { Clock } from '../../src/platform/time/clock.ts'
import type { WorkQueues } from '../../src/platform/work/fair-queue.ts'
import { type Api, apiClient } from './api.ts'
import { type Engine, PATIENCE_MS, type Place } from './engines.ts'
import { freePort } from './free-port.ts'
import { NO_ACME } from './no-acme.ts'
import { NO_DNS } from './no-dns.ts'

/** The whole service, in this process, with its own data. */
export type Service = {
  readonly port: number
  readonly baseUrl: string
  readonly place: Place
  readonly instance: Instance
  /** A client with a token of the workspace, which is created when it does not exist. */
  api(workspace?: string, scopes?: readonly Scope[]): Promise<Api>
  token(workspace?: string, scopes?: readonly Scope[]): Promise<string>
  /** Stops the service and removes its data. */
  stop(): Promise<void>
}

/** Hash threads have a low priority: on a machine that runs other tests too they get little time. */
const HASH_BOUNDS = { ...HASH_QUEUE, deadlineMs: PATIENCE_MS }
/** The least that argon2 takes. */
const CHEAP = { memory: 8, passes: 1 }

/**
 * Hashes in this thread, at a thousandth of the cost: passwords are otherwise a sixth of what the tests of the API take.
 */
function openCheapHasher(queues: WorkQueues): OpenedPasswordHasher {
  return {
    hasher: new PasswordHasher({
      queue: queues.open(HASH_BOUNDS),
      compute: async (task) => argon2id(task, CHEAP),
    }),
    close: async () => {},
  }
}

/** Hashes as the service does, for tests of hashes and of hashes that commands made. */
export const openRealHasher = (queues: WorkQueues) => openPasswordHasher(queues, HASH_BOUNDS)

export type ServiceOptions = {
  readonly clock?: Clock
  readonly openHasher?: typeof openPasswordHasher
}

export async function startService(
  engine: Pick<Engine, 'createMigratedPlace'>,
  settings: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): Promise<Service> {
  const place = await engine.createMigratedPlace()
  const port = Number(settings.TERSE_PORT ?? (await freePort()))
  const config = readConfig({
    TERSE_PORT: String(port),
    TERSE_HOST: '127.0.0.1',
    TERSE_BASE_URL: `http://localhost:${port}`,
    TERSE_RATE_LIMIT: '0',
    TERSE_CLICK_CAP_PER_MINUTE: '0',
    TERSE_RAW_CLICKS_PER_MINUTE: '0',
    // Tests have clicks of fixed days, which will be longer ago than the service would keep them.
    TERSE_CLICK_RETENTION_DAYS: '3650',
    TERSE_DNS_SERVERS: NO_DNS,
    TERSE_ACME_DIRECTORY: NO_ACME,
    ...place.env,
    ...settings,
  })
  const log = pino({ level: 'silent' })
  const opened = await openInstance(config, log)
  const { openHasher = openCheapHasher, clock = opened.clock } = options
  const { store } = opened
  const instance = { ...opened, clock, ...servicesOver(store, config, clock, opened.instanceKey) }
  const node = await startNode(config, instance, log, { answerMsMax: PATIENCE_MS, openHasher })
  const baseUrl = `http://127.0.0.1:${port}`

  async function token(workspace = 'acme', scopes: readonly Scope[] = SCOPES): Promise<string> {
    const owner = await instance.workspaces.ensure(commandLine, workspace)
    const options = { name: 'test', scopes, expiresAt: null }
    return (await instance.tokens.create(commandLine(owner.id), options)).secret
  }

  return {
    port,
    baseUrl,
    place,
    instance,
    token,
    api: async (workspace, scopes) => apiClient(baseUrl, await token(workspace, scopes)),
    async stop() {
      // Requests of a test have been answered by then, and its idle connections need no grace
      // period.
      await node.stop({ idleGraceMs: 0 })
      await instance.close()
      await place.remove()
    },
  }
}
