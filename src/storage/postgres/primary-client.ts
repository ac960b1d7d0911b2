import pg from 'pg'
import { parseDatabaseUrl, type Server } from './database-url.ts'
import { isServerFull } from './errors.ts'

/** For all servers together; a client that waits gives up earlier. */
const SEARCH_TIMEOUT_MS = 5_000
/** How long a search waits for the other servers after one has been found. */
const SETTLE_MS = 500

const STATE = `
  select pg_is_in_recovery() as "isStandby",
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    (select system_identifier::text from pg_control_system()) as system,
    case when pg_is_in_recovery() then 0
      else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`

/** What a server reports of itself. Each promotion of a standby begins a higher timeline. */
type ServerState = {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
  readonly system: string
  readonly timeline: number
}

/** The settings that a server reports of itself whenever they change, from PostgreSQL 14 on. */
const READ_ONLY_SETTINGS = new Set(['in_hot_standby', 'default_transaction_read_only'])

/** The server answers, but is not the one whose data count: read from it, an existing link may be missing. */
class ReadOnlyServer extends Error {
  override readonly name = 'ReadOnlyServer'
  /** SQLSTATE read_only_sql_transaction. */
  readonly code = '25006'
}

/**
 * The servers of one URL, of which one accepts writes. All connections of a thread share what one of them finds
 * out.
 */
class ServerList {
  static readonly #lists = new Map<string, ServerList>()

  /** The URL that pg is given. */
  readonly url: string
  readonly #servers: readonly Server[]
  #primary: Server | undefined
  #search: Promise<Server> | undefined
  /** The highest timeline that was seen, and of which database system. */
  #seen: Pick<ServerState, 'system' | 'timeline'> | undefined

  private constructor(text: string) {
    const parsed = parseDatabaseUrl(text)
    if ('fault' in parsed) throw new TypeError(`the URL of the database ${parsed.fault}`)
    this.url = parsed.value.url
    this.#servers = parsed.value.servers
  }

  static of(url: string): ServerList {
    const list = ServerList.#lists.get(url) ?? new ServerList(url)
    ServerList.#lists.set(url, list)
    return list
  }

  /** Returns the server that accepts writes; undefined when there is only the one of the URL. */
  async find(options: pg.ClientConfig): Promise<Server | undefined> {
    if (this.#servers.length === 0) return undefined
    if (this.#primary !== undefined) return this.#primary
    this.#search ??= this.#findPrimary(options).finally(() => {
      this.#search = undefined
    })
    return this.#search
  }

  /** Has the next connection search again, unless another has done so. */
  forget(server: Server | undefined): void {
    if (this.#primary === server) this.#primary = undefined
  }

  /** @throws {ReadOnlyServer} if the server is not the primary */
  admit({ isStandby, isReadOnly, system, timeline }: ServerState): void {
    if (isStandby) throw new ReadOnlyServer('PostgreSQL is a standby that was not promoted')
    if (isReadOnly) throw new ReadOnlyServer('PostgreSQL is read-only')
    const seen = this.#seen?.system === system ? this.#seen : undefined
    if (seen !== undefined && timeline < seen.timeline) {
      throw new ReadOnlyServer(
        `PostgreSQL is a former primary: it is on timeline ${timeline}, and its successor on ${seen.timeline}`,
      )
    }
    this.#seen = { system, timeline }
  }

  /** Asks all servers. If a former primary accepts writes too, the one that was promoted last is chosen. */
  async #findPrimary(options: pg.ClientConfig): Promise<Server> {
    const found: { server: Server; state: ServerState }[] = []
    const errors: unknown[] = []
    const first = Promise.withResolvers<void>()
    const looks = this.#servers.map(async (server) => {
      try {
        const state = await readState(server, { ...options, connectionString: this.url })
        this.admit(state)
        found.push({ server, state })
        first.resolve()
      } catch (error) {
        errors.push(error)
      }
    })
    const all = Promise.all(looks)
    await Promise.race([all, first.promise])
    let timer: NodeJS.Timeout | undefined
    const settled = new Promise((resolve) => {
      timer = setTimeout(resolve, SETTLE_MS)
    })
    await Promise.race([all, settled])
    clearTimeout(timer)
    const newest = Math.max(...found.map(({ state }) => state.timeline))
    this.#primary = found.find(({ state }) => state.timeline === newest)?.server
    if (this.#primary === undefined) throw mostTelling(errors)
    return this.#primary
  }
}

/**
 * A client that is connected once its server has said that it accepts writes. Of several servers in its URL it
 * takes the one that does. An error of its connection fails its queries, and does not end the process.
 */
export class PrimaryClient extends pg.Client {
  readonly #options: pg.ClientConfig
  readonly #servers: ServerList

  /** @param options `connectionString` may name several servers */
  constructor(options: pg.ClientConfig = {}) {
    const servers = ServerList.of(options.connectionString ?? '')
    super({ ...options, connectionString: servers.url })
    this.#options = options
    this.#servers = servers
    this.on('error', () => {})
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error | null) => void): void
  override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
    const connected = this.#connectToPrimary()
    if (callback === undefined) return connected
    connected.then(() => callback(null), callback)
    return undefined
  }

  async #connectToPrimary(): Promise<this> {
    // The caller that waits for the connection destroys the stream when it takes too long.
    const { stream } = this.connection
    const closed = new Promise<never>((_, reject) => {
      stream.once('close', () => reject(new Error('the connection was given up')))
    })
    closed.catch(() => {})
    const server = await Promise.race([this.#servers.find(this.#options), closed])
    try {
      if (server !== undefined) pointTo(this, server)
      await super.connect()
      this.#servers.admit(await stateOf(this))
    } catch (error) {
      this.#servers.forget(server)
      discard(this)
      throw error
    }
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (READ_ONLY_SETTINGS.has(parameterName) && parameterValue === 'on') {
        this.connection.stream.destroy()
      }
    })
    return this
  }
}

async function readState(server: Server, options: pg.ClientConfig): Promise<ServerState> {
  const client = new pg.Client({
    ...options,
    connectionTimeoutMillis: SEARCH_TIMEOUT_MS,
    query_timeout: SEARCH_TIMEOUT_MS,
  })
  client.on('error', () => {})
  pointTo(client, server)
  try {
    await client.connect()
    return await stateOf(client)
  } finally {
    discard(client)
  }
}

async function stateOf(client: pg.Client): Promise<ServerState> {
  const [state] = (await client.query<ServerState>(STATE)).rows
  if (state === undefined) throw new Error('PostgreSQL returned no row')
  return state
}

function pointTo(client: pg.Client, { host, port }: Server): void {
  Object.assign(client, { host, port })
}

/** Ends a client without waiting for its server. */
function discard(client: pg.Client): void {
  client.end().catch(() => {})
  client.connection.stream.destroy()
}

/** A server that is full may be the primary, and one that answers says more than one that does not. */
function mostTelling(errors: readonly unknown[]): unknown {
  const answered = errors.find((error) => error instanceof ReadOnlyServer)
  return errors.find(isServerFull) ?? answered ?? errors[0]
}
