import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { workerData } from 'node:worker_threads'
import { serveTasks } from '../../platform/work/task-thread.ts'
import { isBusy } from './errors.ts'
import { countSoundFrames } from './file-marks.ts'

/**
 * What the thread of a `WriteAheadLog` does:
 *
 * - `checkpoint` moves what readers allow from the log into the file, beside writers
 * - `checkpointAll` keeps writers away meanwhile
 * - `begin` writes and syncs the header of an empty log
 * - `rewrite` writes a log again of which a sync failed
 */
export type LogTask = 'checkpoint' | 'checkpointAll' | 'begin' | 'rewrite'

/** How many frames a log has, and how many of them are in the file. */
export type LogPosition = { readonly frames: number; readonly checkpointed: number }

/** How long to wait for writers and, in `checkpointAll`, for readers of an older state. */
const BUSY_MS = 1_000
const CHUNK_BYTES = 1024 * 1024

const file: string = workerData
let opened: DatabaseSync | undefined

serveTasks((task: LogTask): LogPosition => {
  opened ??= open()
  if (task === 'begin') begin(opened)
  if (task === 'rewrite') rewrite(opened)
  if (task === 'checkpoint') return checkpoint(opened, 'passive')
  if (task === 'checkpointAll') return checkpoint(opened, 'full')
  return positionAfter(opened, 'noop')
})

function open(): DatabaseSync {
  const location = pathToFileURL(file)
  // Without it, SQLite would create a file that was removed in the meantime.
  location.searchParams.set('mode', 'rw')
  const database = new DatabaseSync(location, { timeout: BUSY_MS })
  // With `normal`, checkpoints sync the log before and the file after they copy.
  database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
  return database
}

/** Begins the log when all of it is in the file, so that no other connection has to. */
function checkpoint(database: DatabaseSync, mode: 'passive' | 'full'): LogPosition {
  positionAfter(database, mode)
  // The checkpoint itself reports the log as it was when it started.
  const position = positionAfter(database, 'noop')
  try {
    if (position.checkpointed >= position.frames) begin(database)
  } catch (error) {
    // The writer that is busy has the log begun before it writes.
    if (!isBusy(error)) throw error
  }
  return position
}

function positionAfter(database: DatabaseSync, mode: 'noop' | 'passive' | 'full'): LogPosition {
  const { log, checkpointed } = database.prepare(`pragma wal_checkpoint(${mode})`).get() ?? {}
  return { frames: Number(log), checkpointed: Number(checkpointed) }
}

/** Writes a page without changing it: the value, which nothing reads, stays as it is. */
function begin(database: DatabaseSync): void {
  const version = database.prepare('pragma user_version').get()?.user_version
  database.exec(`pragma user_version = ${version}`)
}

function rewrite(database: DatabaseSync): void {
  const fd = openSync(`${file}-wal`, 'r+')
  try {
    database.exec('begin immediate')
    // No other connection can restart the log while this one holds the write lock.
    const observer = open()
    const { frames } = positionAfter(observer, 'noop')
    observer.close()
    const sound = countSoundFrames(readerOf(fd))
    if (sound < frames) {
      throw new Error(`the write-ahead log has lost ${frames - sound} of its ${frames} frames`)
    }
    writeAgain(fd)
    fdatasyncSync(fd)
  } finally {
    if (database.isTransaction) database.exec('rollback')
    closeSync(fd)
  }
}

function readerOf(fd: number): (bytes: number) => Buffer | undefined {
  let buffer = Buffer.alloc(0)
  let position = 0
  return (bytes) => {
    if (buffer.length < bytes) buffer = Buffer.alloc(bytes)
    const read = readSync(fd, buffer, 0, bytes, position)
    position += read
    return read === bytes ? buffer.subarray(0, bytes) : undefined
  }
}

/** Marks every page of the file as not written, although nothing changes. */
function writeAgain(fd: number): void {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let position = 0; ; ) {
    const read = readSync(fd, chunk, 0, CHUNK_BYTES, position)
    if (read === 0) return
    for (let written = 0; written < read; ) {
      written += writeSync(fd, chunk, written, read - written, position + written)
    }
    position += read
  }
}
