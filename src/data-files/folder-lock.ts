import { chmodSync, existsSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileIdentity } from '../platform/disk/file.ts'
import { createFolder } from '../platform/disk/folder.ts'
import { isBusy } from '../storage/sqlite/errors.ts'

/** How long to wait for other processes that open, close or migrate the folder. */
const TURN_DEADLINE_MS = 10_000
/** Shorter for a stop: the next start does what a stop has skipped. */
const LEAVE_DEADLINE_MS = 2_000
const TURN_INTERVAL_MS = 20

/**
 * Determines which process is the first to open a data folder and which is the last to close it.
 * Uses SQLite's locks on two empty files: `turn` is held exclusively while a process opens or
 * closes the folder, `open` is shared by all processes that have it open. The system releases both
 * when a process ends, in any way.
 */
export class FolderLock {
  readonly #turnFile: string
  readonly #openFile: string
  #open: DatabaseSync | undefined
  #openIdentity: string | undefined

  constructor(dataDir: string) {
    const folder = path.join(dataDir, 'locks')
    createFolder(folder)
    this.#turnFile = path.join(folder, 'turn')
    this.#openFile = path.join(folder, 'open')
  }

  /**
   * Runs `work` while no other process opens or closes the folder, and then keeps the folder marked
   * as open, unless `work` throws.
   *
   * @param work called with true when no other process has the folder open
   * @throws when another process keeps the `turn` lock for longer than 10 s
   */
  async enter<T>(work: (isFirst: boolean) => Promise<T>): Promise<T> {
    const turn = await this.#takeTurn()
    try {
      const exclusive = lockFile(this.#openFile, 'exclusive')
      exclusive?.close()
      this.#hold(lockFile(this.#openFile, 'shared'))
      return await work(exclusive !== undefined)
    } catch (error) {
      this.#release()
      throw error
    } finally {
      turn.close()
    }
  }

  /**
   * Runs `work` while no other process opens or closes the folder. Does not mark it as open.
   *
   * @param work called with whether a process has the folder open
   * @throws as `enter`
   */
  async duringTurn<T>(work: (isOpen: boolean) => Promise<T>): Promise<T> {
    const turn = await this.#takeTurn()
    try {
      const alone = lockFile(this.#openFile, 'exclusive')
      alone?.close()
      return await work(alone === undefined)
    } finally {
      turn.close()
    }
  }

  /**
   * Runs `whenLast` when no other process has the folder open. Skips it when the `turn` lock is not
   * free within 2 s.
   */
  async leave(whenLast: () => Promise<void>): Promise<void> {
    const turn = await takeTurn(this.#turnFile, LEAVE_DEADLINE_MS)
    this.#release()
    if (turn === undefined) return
    let exclusive: DatabaseSync | undefined
    try {
      exclusive = lockFile(this.#openFile, 'exclusive')
      if (exclusive !== undefined) await whenLast()
    } finally {
      exclusive?.close()
      turn.close()
    }
  }

  /**
   * Marks the folder as open again where its lock file was removed or replaced: other processes would take the folder
   * for closed.
   */
  keep(): void {
    if (this.#open === undefined || fileIdentity(this.#openFile) === this.#openIdentity) return
    createFolder(path.dirname(this.#openFile))
    const open = lockFile(this.#openFile, 'shared')
    // Undefined while another process opens the folder.
    if (open === undefined) return
    this.#release()
    this.#hold(open)
  }

  #hold(open: DatabaseSync | undefined): void {
    this.#open = open
    this.#openIdentity = fileIdentity(this.#openFile)
  }

  async #takeTurn(): Promise<DatabaseSync> {
    const turn = await takeTurn(this.#turnFile, TURN_DEADLINE_MS)
    if (turn !== undefined) return turn
    throw new Error(
      'Another process is opening or checking this data folder. Try again when it is done.',
    )
  }

  #release(): void {
    this.#open?.close()
    this.#open = undefined
  }
}

/**
 * Locks a name of a data folder until the returned lock is closed or the process ends. Undefined when another
 * process has locked it.
 */
export function lockName(dataDir: string, name: string): { close(): void } | undefined {
  const folder = path.join(dataDir, 'locks')
  createFolder(folder)
  return lockFile(path.join(folder, name), 'exclusive')
}

/** Whether a process has the data folder open, or is opening it. Creates no file. */
export function isFolderOpen(dataDir: string): boolean {
  const [turnFile, openFile] = ['turn', 'open'].map((name) => path.join(dataDir, 'locks', name))
  if (turnFile === undefined || openFile === undefined) return false
  if (!existsSync(turnFile) || !existsSync(openFile)) return false
  const turn = lockFile(turnFile, 'exclusive')
  if (turn === undefined) return true
  try {
    const exclusive = lockFile(openFile, 'exclusive')
    exclusive?.close()
    return exclusive === undefined
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

/** Returns undefined when another connection holds a conflicting lock. */
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
