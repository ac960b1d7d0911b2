import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { attachForReading } from './data-files.ts'

/** A query, and the number under which to answer it. */
export type ScanRequest = {
  readonly id: number
  /** Of raw clicks; undefined for the database itself. */
  readonly file: string | undefined
  readonly sql: string
  readonly parameters: readonly SQLInputValue[]
}

export type ScanReply =
  | { readonly id: number; readonly rows: unknown[] }
  | { readonly id: number; readonly error: { readonly message: string; readonly errcode: number } }

const OPTIONS = { readOnly: true, timeout: 1_000 } as const
/** Other files that are kept open: those of the exports that are under way. */
const OTHERS_MAX = 4

const database = new DatabaseSync(workerData.file, OPTIONS)
attachForReading(database, { file: workerData.clicksFile, name: 'counted' })
const others = new Map<string, DatabaseSync>()

function otherDatabase(file: string): DatabaseSync {
  const known = others.get(file)
  if (known !== undefined) return known
  const [oldest] = others
  if (oldest !== undefined && others.size >= OTHERS_MAX) {
    oldest[1].close()
    others.delete(oldest[0])
  }
  const other = new DatabaseSync(file, OPTIONS)
  others.set(file, other)
  return other
}

parentPort?.on('message', ({ id, file, sql, parameters }: ScanRequest) => {
  let reply: ScanReply
  try {
    const asked = file === undefined ? database : otherDatabase(file)
    reply = { id, rows: asked.prepare(sql).all(...parameters) }
  } catch (error) {
    const errcode = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 1
    reply = { id, error: { message: error instanceof Error ? error.message : 'failed', errcode } }
  }
  parentPort?.postMessage(reply)
})
