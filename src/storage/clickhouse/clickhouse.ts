import { Readable } from 'node:stream'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import type { ClickHouseAccess, ClickHouseAddress } from './clicks-url.ts'
import { isAway, isSilent, translateError } from './errors.ts'

/** How much later than the server the client ends a query. */
const ANSWER_MARGIN_MS = 2_000

/**
 * An insert is answered when most replicas of each shard have it. A statement for the whole cluster does not wait for servers
 * that are down: they catch up.
 */
const IN_CLUSTER: ClickHouseSettings = {
  distributed_foreground_insert: 1,
  insert_quorum: 'auto',
  distributed_product_mode: 'global',
  distributed_ddl_output_mode: 'null_status_on_timeout',
  distributed_ddl_task_timeout: '20',
}

type Options = ClickHouseAccess & {
  /** The limit for a query; one that takes longer fails as unavailable. */
  readonly timeoutMs: number
  readonly connectionsMax: number
  /** Run before the first operation, until it succeeds once: it may use the given database only. */
  readonly prepare?: (db: ClickHouse) => Promise<void>
}

type QueryOptions = {
  /** The values of `{name:Type}` in the query. */
  readonly params?: Readonly<Record<string, unknown>>
  readonly settings?: ClickHouseSettings
}

/**
 * A database of ClickHouse, over HTTP. Every operation may throw `Failure.unavailable`. It connects at the first operation.
 * Of several servers it uses one while that answers, then the next. What is asked of one may be asked of another again, so
 * each statement must be harmless when it is repeated: inserts have a token.
 */
export class ClickHouse {
  readonly address: ClickHouseAddress
  readonly #servers: readonly ClickHouseClient[]
  readonly #options: Options
  /** The index of the server that is used. */
  #used = 0
  #prepared: Promise<void> | undefined

  constructor(options: Options) {
    const { address, password = '', timeoutMs, connectionsMax } = options
    this.#options = options
    this.address = address
    this.#servers = address.origins.map((url) =>
      createClient({
        url,
        username: address.username,
        password,
        database: address.database,
        application: 'terse',
        request_timeout: timeoutMs + ANSWER_MARGIN_MS,
        max_open_connections: connectionsMax,
        // Errors are reported where they matter.
        log: { level: ClickHouseLogLevel.OFF },
        use_multipart_params_auto: true,
        clickhouse_settings: {
          max_execution_time: timeoutMs / 1_000,
          output_format_json_quote_64bit_integers: 0,
          date_time_output_format: 'iso',
          ...(address.cluster === undefined ? {} : IN_CLUSTER),
        },
      }),
    )
  }

  /** Reads all rows of a query. All 64-bit numbers must be safe integers. */
  rows<Row>(query: string, options: QueryOptions = {}): Promise<Row[]> {
    return this.#run(async (server) => {
      const result = await server.query({ ...asked(query, options), format: 'JSONEachRow' })
      return result.json<Row>()
    })
  }

  /** Runs a statement that returns nothing, and waits for its end. */
  command(query: string, options: QueryOptions = {}): Promise<void> {
    return this.#run(async (server) => {
      await server.command(asked(query, options))
    })
  }

  /**
   * Inserts bytes in a format of ClickHouse, all or nothing for each table and partition that they reach.
   *
   * @param query up to the name of the format
   */
  insert(query: string, bytes: Uint8Array, options: QueryOptions = {}): Promise<void> {
    return this.#run(async (server) => {
      const { stream } = await server.exec({
        ...asked(query, options),
        // As one chunk: an iterated array would be a chunk for each byte.
        values: Readable.from([bytes], { objectMode: false }),
      })
      for await (const _chunk of stream) {
        // The connection is free again at the end of the answer.
      }
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()))
  }

  async #run<T>(work: (server: ClickHouseClient) => Promise<T>): Promise<T> {
    try {
      await this.#prepare()
      return await this.#onSome(work)
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Asks each server at most once. One that is silent until the limit ends the operation, and is avoided by the next one. */
  async #onSome<T>(work: (server: ClickHouseClient) => Promise<T>): Promise<T> {
    const { length } = this.#servers
    for (let left = length; ; left -= 1) {
      const used = this.#used
      try {
        return await work(this.#servers[used] as ClickHouseClient)
      } catch (error) {
        if (!isAway(error) && !isSilent(error)) throw error
        // Another operation may have moved on already.
        if (this.#used === used) this.#used = (used + 1) % length
        if (left === 1 || isSilent(error)) throw error
      }
    }
  }

  #prepare(): Promise<void> | undefined {
    const { prepare, ...rest } = this.#options
    if (prepare === undefined) return undefined
    this.#prepared ??= this.#prepareOver(new ClickHouse(rest), prepare).catch((error) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  async #prepareOver(db: ClickHouse, prepare: (db: ClickHouse) => Promise<void>): Promise<void> {
    try {
      await prepare(db)
    } finally {
      await db.close()
    }
  }
}

function asked(query: string, { params, settings }: QueryOptions) {
  return {
    query,
    ...(params && { query_params: { ...params } }),
    // Answers an error as one, instead of within an answer that has begun.
    clickhouse_settings: { wait_end_of_query: 1 as const, ...settings },
  }
}
