import type { Logger } from 'pino'
import { countClicksAfter } from '../clicks/journal/journal-scan.ts'
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
  /** As in `OpenedStore`. */
  readonly uncheckedSinceMs: OpenedStore['uncheckedSinceMs']
  /**
   * Settles once the database is there, with this program's schema, and was made with this key; rejects
   * where it cannot be used, or not just then.
   */
  whenReady(): Promise<void>
  readonly clock: Clock
  readonly instanceKey: Buffer
  readonly workspaces: Workspaces
  readonly tokens: Tokens
  readonly nodes: Nodes
  close(): Promise<void>
}

/** @param options.mayBeAway whether to go on where the database is away; then `whenReady` waits for it */
export async function openInstance(
  config: Config,
  log: Logger,
  options: { mayBeAway?: boolean } = {},
): Promise<Instance> {
  const clock = systemClock()
  const onError = (error: unknown) => log.warn({ err: error }, 'the store reported an error')
  const { store, engine, poolUses, ready, uncheckedSinceMs } = await openStore({
    ...options,
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    clock,
    timeoutMs: config.databaseTimeoutMs,
    onError,
    onAvailability(cause) {
      if (cause === undefined) log.info('the database is back')
      else log.error({ err: cause }, 'the database is away; links at hand go on redirecting')
    },
    clicksAfter: (id, from) => countClicksAfter(config.dataDir, id, from),
    onLongCheck: () => log.warn('data files are checked in full before they are served'),
  })
  let instanceKey: Buffer
  let checkKey = async () => {}
  try {
    if (store.isAvailable()) {
      instanceKey = await instanceKeyOf(config, store)
    } else {
      const key = keyAtHand(config)
      instanceKey = key
      checkKey = async () => {
        await checkInstanceKey(store, key)
      }
    }
  } catch (error) {
    await store.close()
    throw error
  }
  const base = { store, clock, random: systemRandom }
  return {
    store,
    engine,
    poolUses,
    uncheckedSinceMs,
    async whenReady() {
      await ready
      await checkKey()
    },
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

function keyAtHand({ secretKey, dataDir }: Config): Buffer {
  const key = secretKey ?? loadSecretKey(dataDir)
  if (key === undefined) {
    throw new Error('The database cannot be reached, and this node has never started before.')
  }
  return key
}
