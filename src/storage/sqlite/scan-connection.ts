import path from 'node:path'
import type { SQLInputValue } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { Failure } from '../../platform/failure.ts'
import { TaskThread, TaskThreadEnded } from '../../platform/work/task-thread.ts'
import { rowsOf } from './connection.ts'
import { translateError } from './errors.ts'
import type { ScanFiles, ScanQuery, ScanResult } from './scan-worker.ts'

/**
 * A connection in a separate thread, for queries that may read a whole table: node:sqlite is
 * synchronous, and a second of reading would stop redirects for a second. The first query starts
 * the thread.
 */
export class ScanConnection implements DatabaseConnection {
  readonly #thread: TaskThread<ScanQuery, ScanResult>
  readonly #folder: string
  #cpuMs = 0

  /** @param files terse.db, and clicks.db beside it */
  constructor(files: ScanFiles) {
    this.#folder = path.dirname(files.file)
    this.#thread = new TaskThread(new URL('./scan-worker.ts', import.meta.url), files)
  }

  /**
   * The thread's CPU time as of its last answer. On a busy machine it is less than the elapsed
   * time.
   */
  get cpuMs(): number {
    return this.#cpuMs
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#execute(undefined, query)
  }

  /** Returns a connection to another file in the same thread. */
  over(file: string): DatabaseConnection {
    return {
      executeQuery: (query) => this.#execute(file, query),
      streamQuery: () => this.streamQuery(),
    }
  }

  async #execute<R>(file: string | undefined, query: CompiledQuery): Promise<QueryResult<R>> {
    const parameters = query.parameters as SQLInputValue[]
    try {
      const { columns, rows, cpuMs } = await this.#thread.run({ file, sql: query.sql, parameters })
      this.#cpuMs = cpuMs
      return { rows: rowsOf(columns, rows) as R[] }
    } catch (error) {
      if (error instanceof TaskThreadEnded) throw Failure.unavailable(error, { kind: 'worker' })
      throw translateError(error, this.#folder)
    }
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method; streaming is not supported
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('SQLite queries are not streamed')
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
