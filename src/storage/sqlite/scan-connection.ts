import type { SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { Failure } from '../../domain/failure.ts'
import { translateError } from './errors.ts'
import type { ScanReply, ScanRequest } from './scan-worker.ts'

/** Scans that may wait for the worker; past that a caller is told to come back. */
const WAITING_MAX = 64

type Waiting = { resolve(rows: unknown[]): void; reject(error: unknown): void }

/**
 * A connection in a thread of its own, for queries that may read a whole table: node:sqlite is
 * synchronous, and a second of reading would be a second in which nobody is redirected. The thread
 * starts with the first query.
 */
export class ScanConnection implements DatabaseConnection {
  readonly #files: { readonly file: string; readonly clicksFile: string }
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  /** @param files the database, and that of the counted clicks beside it */
  constructor(files: { file: string; clicksFile: string }) {
    this.#files = files
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#execute(undefined, query)
  }

  /** The same thread's view of another file. */
  over(file: string): DatabaseConnection {
    return {
      executeQuery: (query) => this.#execute(file, query),
      streamQuery: () => this.streamQuery(),
    }
  }

  async #execute<R>(file: string | undefined, query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#waiting.size >= WAITING_MAX) throw Failure.unavailable(new Error('too many scans'))
    this.#worker ??= this.#start()
    const worker = this.#worker
    this.#lastId += 1
    const request: ScanRequest = {
      id: this.#lastId,
      file,
      sql: query.sql,
      parameters: query.parameters as SQLInputValue[],
    }
    const rows = await new Promise<unknown[]>((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject })
      worker.postMessage(request)
    })
    return { rows: rows as R[] }
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for the method; nothing here streams
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('SQLite queries are not streamed')
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./scan-worker.ts', import.meta.url), {
      workerData: this.#files,
    })
    worker.unref()
    worker.on('message', (reply: ScanReply) => {
      const waiting = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      if ('rows' in reply) waiting?.resolve(reply.rows)
      else {
        const error = Object.assign(new Error(reply.error.message), {
          errcode: reply.error.errcode,
        })
        waiting?.reject(translateError(error))
      }
    })
    const fail = (error: unknown) => {
      // The end of a thread that crashed is told after its successor may have begun.
      if (this.#worker !== worker) return
      this.#worker = undefined
      for (const waiting of this.#waiting.values()) waiting.reject(Failure.unavailable(error))
      this.#waiting.clear()
    }
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('the scan thread ended')))
    return worker
  }
}
