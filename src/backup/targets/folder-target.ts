import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { createFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { type BackupTarget, NoRoom, type StoredObject } from './backup-target.ts'

/** The suffix of a file that is being written. */
const PARTIAL = '.partial'

/** A folder of this machine, which may be on another disk or mounted from another machine. */
export class FolderTarget implements BackupTarget {
  readonly label: string
  readonly workFolder: string
  readonly #folder: string
  readonly #keepFreeBytes: number
  readonly #changed = new Set<string>()

  /** @param keepFreeBytes how much of the disk others need: no object is written that would take it */
  constructor(folder: string, keepFreeBytes: number) {
    this.#folder = path.resolve(folder)
    this.#keepFreeBytes = keepFreeBytes
    this.label = this.#folder
    this.workFolder = path.join(this.#folder, 'work')
  }

  async list(prefix: string): Promise<readonly StoredObject[]> {
    const objects: StoredObject[] = []
    for (const name of await this.#namesBelow(prefix)) {
      if (name.endsWith(PARTIAL)) continue
      const stats = await stat(path.join(this.#folder, name))
      objects.push({ name, size: stats.size })
    }
    return objects
  }

  async read(name: string): Promise<Buffer | undefined> {
    try {
      return await readFile(path.join(this.#folder, name))
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return undefined
      throw naming(path.join(this.#folder, name), error)
    }
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const file = path.join(this.#folder, name)
    const folder = path.dirname(file)
    createFolder(folder)
    await this.ensureRoom(bytes.length)
    const partial = `${file}.${randomBytes(4).toString('hex')}${PARTIAL}`
    try {
      const handle = await open(partial, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        await handle.datasync()
      } finally {
        await handle.close()
      }
      await rename(partial, file)
    } catch (error) {
      await rm(partial, { force: true }).catch(() => {})
      if (hasErrorCode(error, 'ENOSPC') || hasErrorCode(error, 'EDQUOT')) {
        throw new NoRoom(this.#folder)
      }
      throw naming(file, error)
    }
    this.#changed.add(folder)
  }

  async remove(name: string): Promise<void> {
    await rm(path.join(this.#folder, name), { force: true })
  }

  async sync(): Promise<void> {
    for (const name of await this.#namesBelow('')) {
      if (name.endsWith(PARTIAL)) await this.remove(name)
    }
    for (const folder of [...this.#changed, this.#folder]) syncFolder(folder)
    this.#changed.clear()
  }

  async ensureRoom(bytes: number): Promise<void> {
    createFolder(this.#folder)
    const { bavail, bsize } = await statfs(this.#folder)
    if (bavail * bsize < bytes + this.#keepFreeBytes) throw new NoRoom(this.#folder)
  }

  async #namesBelow(prefix: string): Promise<readonly string[]> {
    try {
      const entries = await readdir(path.join(this.#folder, prefix), {
        recursive: true,
        withFileTypes: true,
      })
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(this.#folder, path.join(entry.parentPath, entry.name)))
        .map((name) => name.split(path.sep).join('/'))
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return []
      throw error
    }
  }
}

/** A disk that fails to read, or is full, does not name the file. */
function naming(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.message.includes(file)) return error
  const code = 'code' in error ? error.code : undefined
  return Object.assign(new Error(`${file}: ${error.message}`, { cause: error }), { code })
}

function syncFolder(folder: string): void {
  // Windows cannot open a folder like this.
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
