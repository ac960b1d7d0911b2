import type { Logger } from 'pino'
import { refuseUnfinishedRestore } from '../../backup/unfinished-restore.ts'
import { countClicksAfter } from '../../clicks/journal/journal-reader.ts'
import { openPlaces, type Places } from '../../clicks/record/places.ts'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { QuotaBook } from '../../identity/quotas/quota-book.ts'
import { SetupLinks } from '../../identity/sign-in/setup.ts'
import { type SecretSealing, Tokens } from '../../identity/tokens.ts'
import { Workspaces } from '../../identity/workspaces/workspaces.ts'
import { type Nodes, nodes } from '../../operations/nodes.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { sealing } from '../../platform/crypto/sealing.ts'
import type { Throttles } from '../../platform/limits/throttle.ts'
import type { PasswordHasher } from '../../platform/passwords/password-hasher.ts'
import { type PasswordVault, passwordVault } from '../../platform/passwords/password-vault.ts'
import { type Clock, systemClock } from '../../platform/time/clock.ts'
import type { WorkQueues } from '../../platform/work/fair-queue.ts'
import {
  checkInstanceKey,
  deriveKey,
  hasInstanceKey,
  loadOrCreateSecretKey,
  loadSecretKey,
  secretKeyFile,
} from '../../storage/instance-keys.ts'
import { NoInstance } from '../../storage/store.ts'
import type { Config } from '../config/config.ts'
import { openStore } from '../database/open-store.ts'
import type { OpenedStore } from '../database/opened-store.ts'
import type { FullStore } from '../database/stores.ts'
import { instanceFault } from '../start-faults.ts'

/** The database and the services that need only the database: enough for the command line. */
export type Instance = {
  readonly store: FullStore
  readonly engine: string
  /** As in `OpenedStore`. */
  readonly poolUses: OpenedStore['poolUses']
  /** As in `OpenedStore`. */
  readonly uncheckedSinceMs: OpenedStore['uncheckedSinceMs']
  readonly scanQueue: OpenedStore['scanQueue']
  /** As in `OpenedStore`. */
  readonly checkClicks: OpenedStore['checkClicks'] | undefined
  /** As in `OpenedStore`. */
  readonly findReplacedFile: NonNullable<OpenedStore['findReplacedFile']>
  /**
   * Settles once the database is available, has this program's schema and matches the instance key. Rejects
   * when it cannot be used, or not at present.
   */
  whenReady(): Promise<void>
  readonly clock: Clock
  readonly instanceKey: Buffer
  readonly quotas: QuotaBook
  readonly workspaces: Workspaces
  readonly tokens: Tokens
  readonly setupLinks: SetupLinks
  readonly nodes: Nodes
  close(): Promise<void>
}

export type OpenOptions = {
  /**
   * Whether to continue while the database is unavailable, on a node that has its secret key; `whenReady`
   * then waits for the database.
   */
  mayBeUnavailable?: boolean
  /** Whether to create nothing, and to fail when there is no instance yet. */
  mustExist?: boolean
}

/** @throws an error that says in one line what is wrong and what to do about it */
export async function openInstance(
  config: Config,
  log: Logger,
  options: OpenOptions = {},
): Promise<Instance> {
  try {
    return await open(config, log, options)
  } catch (error) {
    throw instanceFault(config, error)
  }
}

async function open(
  config: Config,
  log: Logger,
  { mayBeUnavailable = false, mustExist = false }: OpenOptions,
): Promise<Instance> {
  const clock = systemClock()
  refuseUnfinishedRestore(config.dataDir)
  // First, so that an unusable key leaves no new database behind.
  const key = config.secretKey ?? loadSecretKey(config.dataDir)
  const opened = await openStore({
    mayBeUnavailable: mayBeUnavailable && key !== undefined,
    mustExist,
    databaseUrl: config.databaseUrl,
    clicks: config.clicks,
    dataDir: config.dataDir,
    clock,
    timeoutMs: config.databaseTimeoutMs,
    onError: (error) => log.warn({ err: error }, 'store error'),
    onAvailability(cause) {
      if (cause === undefined) log.info('database available')
      else log.error({ err: cause }, 'database unavailable')
    },
    clicksAfter: (id, from) => countClicksAfter(config.dataDir, id, from),
    onLongCheck: () => log.warn('checking all data files before serving'),
  })
  const { store } = opened
  let instanceKey: Buffer
  let checkKey = async () => {}
  try {
    if (store.isAvailable() || key === undefined) {
      instanceKey = await instanceKeyOf(config, store, key, mustExist)
    } else {
      instanceKey = key
      checkKey = async () => {
        await checkInstanceKey(store, key)
      }
    }
  } catch (error) {
    await store.close()
    throw error
  }
  const { engine, poolUses, uncheckedSinceMs, scanQueue } = opened
  return {
    engine,
    poolUses,
    uncheckedSinceMs,
    scanQueue,
    checkClicks: opened.checkClicks,
    findReplacedFile: opened.findReplacedFile ?? (() => undefined),
    async whenReady() {
      await opened.ready
      await checkKey()
    },
    clock,
    instanceKey,
    ...servicesOver(store, config, clock, instanceKey),
    nodes: nodes({ store, clock }),
    close: () => store.close(),
  }
}

/** A store, with the services of an instance that write to it. */
export function servicesOver(store: FullStore, config: Config, clock: Clock, instanceKey: Buffer) {
  const base = { store, clock, random: systemRandom }
  return {
    store,
    quotas: new QuotaBook({ store, defaults: config.quotas }),
    workspaces: new Workspaces({ ...base, mappedNames: mappedNamesOf(config) }),
    tokens: new Tokens({ ...base, secretSealing: secretSealingOf(instanceKey) }),
    setupLinks: new SetupLinks(base),
  }
}

export function secretSealingOf(instanceKey: Buffer): SecretSealing {
  const { seal, unseal } = sealing(deriveKey(instanceKey, 'compat-secrets'), systemRandom)
  return {
    seal: (id, secret) => seal(Buffer.from(secret), id).toString('base64'),
    unseal: (id, sealed) => unseal(Buffer.from(sealed, 'base64'), id)?.toString(),
  }
}

/** The names of workspaces in which groups of single sign-on have roles. */
function mappedNamesOf({ oidc }: Config): ReadonlySet<string> {
  return new Set(oidc?.roles.map(({ workspace }) => workspace))
}

/** Returns the key of this node; creates one for a database that has none, unless `mustExist`. */
async function instanceKeyOf(
  { dataDir }: Config,
  store: FullStore,
  known: Buffer | undefined,
  mustExist: boolean,
): Promise<Buffer> {
  if (await hasInstanceKey(store)) {
    // Another process may have created it since this one read the folder.
    const key = known ?? loadSecretKey(dataDir)
    if (key !== undefined) return checkInstanceKey(store, key)
    throw new Error(
      `The secret key of the database is missing: there is no ${secretKeyFile(dataDir)}. Put it back, or set TERSE_SECRET_KEY.`,
    )
  }
  if (mustExist) throw new NoInstance()
  return checkInstanceKey(store, known ?? loadOrCreateSecretKey(dataDir))
}

/** The application context: what the parts of a node are built from. */
export type AppContext = {
  readonly config: Config
  readonly instance: Instance
  readonly log: Logger
  readonly serviceHost: ServiceHost
  readonly throttles: Throttles
  readonly hasher: PasswordHasher
  /** The queues in front of expensive work. */
  readonly queues: WorkQueues
  /** How long an answer of the API may take. */
  readonly answerMsMax: number
}

/** The passwords of links. */
export function vaultOf({
  instance,
  hasher,
}: Pick<AppContext, 'instance' | 'hasher'>): PasswordVault {
  return passwordVault(deriveKey(instance.instanceKey, 'link-password'), systemRandom, hasher)
}

/** The passwords of people. */
export function peopleVaultOf({ instance, hasher }: AppContext): PasswordVault {
  return passwordVault(deriveKey(instance.instanceKey, 'person-password'), systemRandom, hasher)
}

/** @param operation names what failed in the log line */
export function logUnexpected(log: Logger, operation: string): (error: unknown) => void {
  return (error) => log.error({ err: error, operation }, 'unexpected error')
}

/** @throws when `TERSE_COUNTRY_DATABASE` does not name a country database */
export async function openPlacesOf({ countryDatabase }: Config): Promise<Places> {
  try {
    return await openPlaces(countryDatabase)
  } catch (error) {
    if (countryDatabase === undefined) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`TERSE_COUNTRY_DATABASE names no country database (${reason})`)
  }
}
