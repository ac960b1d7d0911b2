import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { lowerPriority, NICENESS_INCREMENTS, serveTasks } from '../../platform/work/task-thread.ts'
import { attachForReading } from './data-files.ts'

/** The paths that the thread is started with: terse.db, and clicks.db beside it. */
export type ScanFiles = { readonly file: string; readonly clicksFile: string }

export type ScanQuery = {
  /** A raw click file; undefined for terse.db. */
  readonly file: string | undefined
  readonly sql: string
  readonly parameters: readonly SQLInputValue[]
}

/** The rows as arrays, whose copy between threads costs half that of objects, and the thread's CPU time since it started. */
export type ScanResult = {
  readonly columns: readonly string[]
  readonly rows: readonly unknown[]
  readonly cpuMs: number
}

const OPTIONS = { readOnly: true, timeout: 1_000 } as const
/** The maximum number of other files kept open, for running exports. */
const OTHERS_MAX = 4

/** The memory of all running sorts together; the rest goes to a temporary file. */
const SORTING_KIB = 64 * 1024

const { file, clicksFile }: ScanFiles = workerData
// Redirects take precedence when both compete for a core.
lowerPriority(NICENESS_INCREMENTS.expensive)
let main: DatabaseSync | undefined
const others = new Map<string, DatabaseSync>()

serveTasks(({ file, sql, parameters }: ScanQuery): ScanResult => {
  const database = file === undefined ? mainDatabase() : otherDatabase(file)
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  const rows = statement.all(...parameters)
  const columns = statement.columns().map(({ name }) => name)
  const { user, system } = process.threadCpuUsage()
  return { columns, rows, cpuMs: (user + system) / 1_000 }
})

/**
 * Opens terse.db at the first query, so that a fault in the files fails the query instead of ending
 * the thread.
 */
function mainDatabase(): DatabaseSync {
  main ??= openMain()
  return main
}

function openMain(): DatabaseSync {
  const database = new DatabaseSync(file, OPTIONS)
  try {
    attachForReading(database, { file: clicksFile, name: 'counted' })
    database.exec(`pragma temp.cache_size = -${SORTING_KIB}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

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
