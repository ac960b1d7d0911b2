import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { lowerPriority, NICENESS_INCREMENTS } from '../../work/lower-priority.ts'
import { serveTasks } from '../../work/serve-tasks.ts'
import { attachForReading } from './data-files.ts'

/** What the thread is started with: the database, and that of the counted clicks beside it. */
export type ScanFiles = { readonly file: string; readonly clicksFile: string }

export type ScanQuery = {
  /** Of raw clicks; undefined for the database itself. */
  readonly file: string | undefined
  readonly sql: string
  readonly parameters: readonly SQLInputValue[]
}

/** The rows, and the processor time of the thread since it started. */
export type ScanResult = { readonly rows: unknown[]; readonly cpuMs: number }

const OPTIONS = { readOnly: true, timeout: 1_000 } as const
/** Other files that are kept open: those of the exports that are under way. */
const OTHERS_MAX = 4

/** Of all sorted lists under way together; what does not fit goes to a temporary file. */
const SORTING_KIB = 64 * 1024

const { file, clicksFile }: ScanFiles = workerData
// Where both want the same core, visitors go first.
lowerPriority(NICENESS_INCREMENTS.expensive)
let main: DatabaseSync | undefined
const others = new Map<string, DatabaseSync>()

serveTasks(({ file, sql, parameters }: ScanQuery): ScanResult => {
  const asked = file === undefined ? mainDatabase() : otherDatabase(file)
  const rows = asked.prepare(sql).all(...parameters)
  const { user, system } = process.threadCpuUsage()
  return { rows, cpuMs: (user + system) / 1_000 }
})

/** Opened by the first query, which then fails with what is wrong with the files, where the thread would end. */
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
