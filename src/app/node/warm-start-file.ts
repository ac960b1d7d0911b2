import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { createFolder } from '../../platform/disk/folder.ts'
import type {
  KeptKind,
  KeptValues,
  WarmStart,
  WarmStartState,
} from '../../storage/coherent-cache.ts'
import { isBusy } from '../../storage/sqlite/errors.ts'

/** Increased with every change of the encoding of values. A file of another format is emptied. */
const FORMAT = '13'
/** The most files in a data folder: one for each process that shares it. */
const FILES_MAX = 256
/** Rows of one write, which takes a few milliseconds of the thread that answers visitors. */
const ROWS_MAX = 500
/** Values waiting to be written. Beyond this, while the disk refuses writes, the file is emptied. */
const WAITING_MAX = 50_000

type Entry = {
  readonly kind: KeptKind
  readonly name: string
  /** Undefined for a value that was dropped. */
  readonly encode: (() => string) | undefined
}

/** The warm start of one process, in a SQLite file that is locked for as long as the process lives. */
export class WarmStartFile implements WarmStart {
  readonly state: WarmStartState | undefined
  readonly #database: DatabaseSync
  readonly #put: StatementSync
  readonly #remove: StatementSync
  readonly #note: StatementSync
  readonly #waiting = new Map<string, Entry>()
  #mustClear = false

  /** @param mark names the database whose values these are; a file of another database is emptied */
  private constructor(database: DatabaseSync, mark: string) {
    this.#database = database
    this.#put = database.prepare(
      'insert or replace into entries (kind, name, value) values (?, ?, ?)',
    )
    this.#remove = database.prepare('delete from entries where kind = ? and name = ?')
    this.#note = database.prepare('insert or replace into state (name, value) values (?, ?)')
    const rows = database.prepare('select name, value from state').all()
    const known = new Map(rows.map(({ name, value }) => [String(name), String(value)]))
    if (known.get('format') === FORMAT && known.get('mark') === mark) {
      this.state = parseState(known.get('state'))
    } else {
      database.exec('delete from entries; delete from state')
      this.#note.run('format', FORMAT)
      this.#note.run('mark', mark)
    }
  }

  /**
   * Opens the first file in the data folder that no other process has locked, or creates one.
   *
   * @param options.databaseUrl of the PostgreSQL database whose values are kept
   * @throws where all files are in use
   */
  static open(options: { dataDir: string; databaseUrl: string }): WarmStartFile {
    const folder = path.join(options.dataDir, 'link-copy')
    createFolder(folder)
    for (let number = 0; number < FILES_MAX; number += 1) {
      const database = openFile(path.join(folder, `${number}.db`))
      if (database !== undefined) return new WarmStartFile(database, markOf(options.databaseUrl))
    }
    throw new Error(`${folder} holds too many files that are in use`)
  }

  values(kind: KeptKind): KeptValues {
    return {
      entries: () => this.#entries(kind),
      keep: (name, encode) => this.#set({ kind, name, encode }),
      drop: (name) => this.#set({ kind, name, encode: undefined }),
    }
  }

  clear(): void {
    this.#waiting.clear()
    this.#mustClear = true
  }

  /**
   * Writes some of the values that wait, and with the last of them the state that belongs to them.
   * Returns whether values are left to write.
   */
  save(state: WarmStartState): boolean {
    const batch = [...this.#waiting.entries().take(ROWS_MAX)]
    this.#database.exec('begin immediate')
    try {
      this.#write(batch.map(([, entry]) => entry))
      if (batch.length === this.#waiting.size) this.#note.run('state', JSON.stringify(state))
      this.#database.exec('commit')
    } catch (error) {
      this.#database.exec('rollback')
      throw error
    }
    this.#mustClear = false
    for (const [id] of batch) this.#waiting.delete(id)
    return this.#waiting.size > 0
  }

  close(): void {
    this.#database.close()
  }

  *#entries(kind: KeptKind): Generator<{ name: string; value: string }> {
    const select = this.#database.prepare('select name, value from entries where kind = ?')
    for (const { name, value } of select.iterate(kind)) {
      yield { name: String(name), value: String(value) }
    }
  }

  #set(entry: Entry): void {
    if (this.#waiting.size >= WAITING_MAX) this.clear()
    this.#waiting.set(`${entry.kind} ${entry.name}`, entry)
  }

  #write(entries: readonly Entry[]): void {
    if (this.#mustClear) {
      this.#database.exec("delete from entries; delete from state where name = 'state'")
    }
    for (const { kind, name, encode } of entries) {
      if (encode === undefined) this.#remove.run(kind, name)
      else this.#put.run(kind, name, encode())
    }
  }
}

/** Returns undefined when another process has locked the file. */
function openFile(file: string): DatabaseSync | undefined {
  try {
    return lockFile(file)
  } catch (error) {
    if (isBusy(error)) return undefined
    // A damaged file is replaced: the database still has its values.
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
    return lockFile(file)
  }
}

function lockFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // Before SQLite creates its journal, which gets the same permissions.
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

function parseState(text: string | undefined): WarmStartState | undefined {
  return text === undefined ? undefined : JSON.parse(text)
}

/** Identifies a database without holding its address or password. */
function markOf(databaseUrl: string): string {
  return createHash('sha256').update(databaseUrl).digest('hex')
}
