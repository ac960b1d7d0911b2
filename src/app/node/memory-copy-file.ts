import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { CopiedKind, CopyState, MemoryCopy } from '../../platform/cache/memory-copy.ts'
import { isBusy } from '../../platform/database/sqlite/errors.ts'
import { createFolder } from '../../platform/disk/create-folder.ts'

/** Raised with every change of what the values look like; a copy of another format is begun anew. */
const FORMAT = '3'
/** As many as processes may share a data folder. */
const COPIES_MAX = 256
/** Written at once: a few milliseconds of the thread that answers visitors. */
const ROWS_MAX = 500
/** Entries that wait to be written. Where a disk takes none, the copy is begun anew past it. */
const WAITING_MAX = 50_000

type Entry = { kind: CopiedKind; name: string; value: string | undefined }

/**
 * Opens the first copy in the data folder that no other process has, or makes one. The file is locked
 * for as long as the process lives.
 *
 * @param options.databaseUrl whose links they are: a copy of another database is begun anew
 */
export function openMemoryCopy(options: { dataDir: string; databaseUrl: string }): MemoryCopy {
  const folder = path.join(options.dataDir, 'link-copy')
  createFolder(folder)
  for (let number = 0; number < COPIES_MAX; number += 1) {
    const file = path.join(folder, `${number}.db`)
    const database = openFile(file)
    if (database !== undefined) return copyIn(database, markOf(options.databaseUrl))
  }
  throw new Error(`${folder} holds too many copies that are in use`)
}

/** Undefined where another process has it. */
function openFile(file: string): DatabaseSync | undefined {
  try {
    return lockFile(file)
  } catch (error) {
    if (isBusy(error)) return undefined
    // Whatever is wrong with it: it is only a copy.
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
    return lockFile(file)
  }
}

function lockFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // Before there is a journal, which gets the same permissions.
    chmodSync(file, 0o600)
    database.exec(`
      pragma locking_mode = exclusive;
      pragma journal_mode = wal;
      pragma synchronous = normal;
      create table if not exists state (name text primary key, value text not null) without rowid;
      create table if not exists entries (
        kind text not null, name text not null, value text not null, primary key (kind, name)
      ) without rowid`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function copyIn(database: DatabaseSync, mark: string): MemoryCopy {
  const put = database.prepare(
    'insert or replace into entries (kind, name, value) values (?, ?, ?)',
  )
  const remove = database.prepare('delete from entries where kind = ? and name = ?')
  const note = database.prepare('insert or replace into state (name, value) values (?, ?)')
  const waiting = new Map<string, Entry>()
  let isClearAsked = false

  const rows = database.prepare('select name, value from state').all()
  const known = new Map(rows.map(({ name, value }) => [String(name), String(value)]))
  const isOurs = known.get('format') === FORMAT && known.get('mark') === mark
  if (!isOurs) {
    database.exec('delete from entries; delete from state')
    note.run('format', FORMAT)
    note.run('mark', mark)
  }

  function write(entries: readonly Entry[]): void {
    if (isClearAsked) database.exec("delete from entries; delete from state where name = 'state'")
    for (const { kind, name, value } of entries) {
      if (value === undefined) remove.run(kind, name)
      else put.run(kind, name, value)
    }
  }

  function clear(): void {
    waiting.clear()
    isClearAsked = true
  }

  return {
    state: isOurs ? parseState(known.get('state')) : undefined,

    *entries(kind) {
      const select = database.prepare('select name, value from entries where kind = ?')
      for (const { name, value } of select.iterate(kind)) {
        yield { name: String(name), value: String(value) }
      }
    },

    set(kind, name, value) {
      if (waiting.size >= WAITING_MAX) clear()
      waiting.set(`${kind} ${name}`, { kind, name, value })
    },

    clear,

    save(state) {
      const batch = [...waiting.entries().take(ROWS_MAX)]
      database.exec('begin immediate')
      try {
        write(batch.map(([, entry]) => entry))
        if (batch.length === waiting.size) note.run('state', JSON.stringify(state))
        database.exec('commit')
      } catch (error) {
        database.exec('rollback')
        throw error
      }
      isClearAsked = false
      for (const [id] of batch) waiting.delete(id)
      return waiting.size > 0
    },

    close: () => database.close(),
  }
}

function parseState(text: string | undefined): CopyState | undefined {
  return text === undefined ? undefined : JSON.parse(text)
}

/** Tells databases apart without telling where they are. */
function markOf(databaseUrl: string): string {
  return createHash('sha256').update(databaseUrl).digest('hex')
}
