import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** A query, and the number under which to answer it. */
export type ScanRequest = {
  readonly id: number
  readonly sql: string
  readonly parameters: readonly SQLInputValue[]
}

export type ScanReply =
  | { readonly id: number; readonly rows: unknown[] }
  | { readonly id: number; readonly error: { readonly message: string; readonly errcode: number } }

const database = new DatabaseSync(workerData.file, { readOnly: true, timeout: 1_000 })

parentPort?.on('message', ({ id, sql, parameters }: ScanRequest) => {
  let reply: ScanReply
  try {
    reply = { id, rows: database.prepare(sql).all(...parameters) }
  } catch (error) {
    const errcode = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 1
    reply = { id, error: { message: error instanceof Error ? error.message : 'failed', errcode } }
  }
  parentPort?.postMessage(reply)
})
