import { chmodSync, existsSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from '../../../platform/database/sqlite/errors.ts'
import { createFolder } from '../../../platform/disk/create-folder.ts'

/** For other processes that open or close the folder, or bring its schema up to date. */
const TURN_DEADLINE_MS = 10_000
/** A stop does not wait longer: the next start does what this one leaves. */
const LEAVE_DEADLINE_MS = 2_000
const TURN_INTERVAL_MS = 20

/**
 * Knows which process is the first to open a data folder and which is the last to close it. The locks
 * are SQLite's, on two empty files: `turn` is held exclusively while a process opens or closes the
 * folder, `open` is shared by all processes that have it open. The system frees both when a process
 * ends, however it ends.
 */
export class FolderLock {
  readonly #turnFile: string
  readonly #openFile: string
  #open: DatabaseSync | undefined

  constructor(dataDir: string) {
    const folder = path.join(dataDir, 'locks')
    createFolder(folder)
    this.#turnFile = path.join(folder, 'turn')
    this.#openFile = path.join(folder, 'open')
  }

  /**
   * Runs `work` while no other process opens or closes the folder, and keeps the folder marked as open
   * afterwards, unless `work` throws.
   *
   * @param work is given whether no other process has the folder open
   * @throws where another process takes longer than 10 s over its turn
   */
  async enter<T>(work: (isFirst: boolean) => Promise<T>): Promise<T> {
    const turn = await takeTurn(this.#turnFile, TURN_DEADLINE_MS)
    if (turn === undefined) {
      throw new Error(
        'Another process is opening or checking this data folder. Try again when it is done.',
      )
    }
    try {
      const alone = lockFile(this.#openFile, 'exclusive')
      alone?.close()
      this.#open = lockFile(this.#openFile, 'shared')
      return await work(alone !== undefined)
    } catch (error) {
      this.#release()
      throw error
    } finally {
      turn.close()
    }
  }

  /** Runs `whenLast` where no other process has the folder open. Waits 2 s for its turn at most. */
  async leave(whenLast: () => Promise<void>): Promise<void> {
    const turn = await takeTurn(this.#turnFile, LEAVE_DEADLINE_MS)
    this.#release()
    if (turn === undefined) return
    let alone: DatabaseSync | undefined
    try {
      alone = lockFile(this.#openFile, 'exclusive')
      if (alone !== undefined) await whenLast()
    } finally {
      alone?.close()
      turn.close()
    }
  }

  #release(): void {
    this.#open?.close()
    this.#open = undefined
  }
}

/** Whether a process has the data folder open, or is about to. Makes no file. */
export function isFolderOpen(dataDir: string): boolean {
  const [turnFile, openFile] = ['turn', 'open'].map((name) => path.join(dataDir, 'locks', name))
  if (turnFile === undefined || openFile === undefined) return false
  if (!existsSync(turnFile) || !existsSync(openFile)) return false
  const turn = lockFile(turnFile, 'exclusive')
  if (turn === undefined) return true
  try {
    const alone = lockFile(openFile, 'exclusive')
    alone?.close()
    return alone === undefined
  } finally {
    turn.close()
  }
}

async function takeTurn(file: string, deadlineMs: number): Promise<DatabaseSync | undefined> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const turn = lockFile(file, 'exclusive')
    if (turn !== undefined || performance.now() > deadline) return turn
    await sleep(TURN_INTERVAL_MS * (1 + Math.random()))
  }
}

/** Undefined where another connection holds a lock that excludes this one. */
function lockFile(file: string, kind: 'exclusive' | 'shared'): DatabaseSync | undefined {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    chmodSync(file, 0o600)
    database.exec('pragma journal_mode = memory')
    if (kind === 'exclusive') database.exec('begin exclusive')
    else database.exec('begin; select count(*) from sqlite_schema')
    return database
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}
