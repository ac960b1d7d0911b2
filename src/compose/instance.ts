import type { Logger } from 'pino'
import type { Config } from '../config/read-config.ts'
import { loadOrCreateSecretKey, loadSecretKey } from '../config/secret-key.ts'
import { checkInstanceKey, hasInstanceKey } from '../domain/instance/key-check.ts'
import { type Nodes, nodes } from '../domain/nodes/nodes.ts'
import type { Store } from '../domain/store.ts'
import { type Tokens, tokens } from '../domain/tokens/tokens.ts'
import { type Workspaces, workspaces } from '../domain/workspaces/workspaces.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { systemRandom } from '../lib/random.ts'
import { openStore } from '../storage/open-store.ts'
import type { OpenedStore } from '../storage/opened-store.ts'

/** The database and the services that need nothing else: enough for the command line. */
export type Instance = {
  readonly store: Store
  readonly engine: string
  /** As in `OpenedStore`. */
  readonly poolUses: OpenedStore['poolUses']
  readonly clock: Clock
  readonly instanceKey: Buffer
  readonly workspaces: Workspaces
  readonly tokens: Tokens
  readonly nodes: Nodes
  close(): Promise<void>
}

export async function openInstance(config: Config, log: Logger): Promise<Instance> {
  const clock = systemClock()
  const onError = (error: unknown) => log.warn({ err: error }, 'the store reported an error')
  const { store, engine, poolUses } = await openStore({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    clock,
    onError,
    onAvailability(cause) {
      if (cause === undefined) log.info('the database is back')
      else log.error({ err: cause }, 'the database is away; links at hand go on redirecting')
    },
  })
  let instanceKey: Buffer
  try {
    instanceKey = await instanceKeyOf(config, store)
  } catch (error) {
    await store.close()
    throw error
  }
  const base = { store, clock, random: systemRandom }
  return {
    store,
    engine,
    poolUses,
    clock,
    instanceKey,
    workspaces: workspaces(base),
    tokens: tokens(base),
    nodes: nodes(base),
    close: () => store.close(),
  }
}

/** The key of the configuration or the data folder; a new one for a database that has none yet. */
async function instanceKeyOf(config: Config, store: Store): Promise<Buffer> {
  const { secretKey, dataDir } = config
  const isKnown = await hasInstanceKey(store)
  const key = secretKey ?? (isKnown ? loadSecretKey(dataDir) : loadOrCreateSecretKey(dataDir))
  return checkInstanceKey(store, key)
}
