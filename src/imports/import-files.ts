import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { readDiskSpace } from '../platform/disk/disk-space.ts'
import { Failure } from '../platform/failure.ts'
import { ImportSourceFault } from './import-source.ts'
import { guessColumns, isFlag } from './sources/csv/csv-columns.ts'
import { readCsvRows } from './sources/csv/csv-rows.ts'

const FILE_BYTES_MAX = 1024 ** 3
const ROOM_BYTES_MIN = 256 * 1024 ** 2
/** A file that no import names may be one whose upload has just begun. */
const STRAY_MS_MIN = 60 * 60 * 1_000

/** The uploaded files of imports, in the data folder of this node. */
export class ImportFiles {
  readonly #folder: string
  readonly #roomBytesMin: number

  /** @param roomBytesMin what uploads leave free on the disk, which clicks need */
  constructor(dataDir: string, roomBytesMin = ROOM_BYTES_MIN) {
    this.#folder = path.join(dataDir, 'imports')
    this.#roomBytesMin = roomBytesMin
  }

  pathOf(fileId: string): string {
    return path.join(this.#folder, fileId)
  }

  has(fileId: string): boolean {
    return existsSync(this.pathOf(fileId))
  }

  /**
   * Writes a part of a file, which ends after it; returns the bytes of the file when they are on disk. A part that was
   * written before may be written again. Of a part that fails nothing is left.
   *
   * @throws {Failure} `validation_failed` where the part before is missing, or the file is too large; `unavailable`
   *   when the disk has no room
   */
  async write(fileId: string, offset: number, part: Uint8Array): Promise<number> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const end = offset + part.length
    if (end > FILE_BYTES_MAX) {
      throw Failure.invalid({ offset: [{ code: 'file_too_large', max: FILE_BYTES_MAX }] })
    }
    const { freeBytes } = await readDiskSpace(this.#folder)
    if (freeBytes < part.length + this.#roomBytesMin)
      throw noRoom(new Error('the disk is nearly full'))
    const isNew = !this.has(fileId)
    const file = await open(this.pathOf(fileId), offset === 0 ? 'w' : 'r+', 0o600).catch(missing)
    try {
      const { size } = file === undefined ? { size: 0 } : await file.stat()
      if (file === undefined || offset > size) {
        throw Failure.invalid({ offset: [{ code: 'wrong_offset', expected: size }] })
      }
      await writeAt(file, part, offset)
      await file.truncate(end)
      await file.datasync()
      return end
    } catch (error) {
      if (!isFull(error)) throw error
      await file?.truncate(offset).catch(() => {})
      if (isNew) await this.remove(fileId)
      throw noRoom(error)
    } finally {
      await file?.close()
    }
  }

  async remove(fileId: string): Promise<void> {
    await rm(this.pathOf(fileId), { force: true })
  }

  /** Removes files that no import needs. */
  async sweep(
    neededAmong: (fileIds: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<void> {
    const names = await readdir(this.#folder).catch(() => [])
    const old: string[] = []
    for (const name of names) {
      const { mtimeMs } = await stat(this.pathOf(name)).catch(() => ({ mtimeMs: Date.now() }))
      if (Date.now() - mtimeMs > STRAY_MS_MIN) old.push(name)
    }
    if (old.length === 0) return
    const needed = await neededAmong(old)
    for (const name of old) if (!needed.has(name)) await this.remove(name)
  }
}

/** One write may take a part of the bytes only, as where the disk becomes full. */
async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}

function missing(error: unknown): undefined {
  if (Object(error).code === 'ENOENT') return undefined
  throw isFull(error) ? noRoom(error) : error
}

function isFull(error: unknown): boolean {
  const { code } = Object(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

function noRoom(cause: unknown): Failure {
  return Failure.unavailable(cause, {
    kind: 'upload_room',
    message: 'The service has no room for this file. Ask its operator to make room on the disk.',
  })
}

/** The columns of a CSV file. */
export type FileColumns = {
  readonly names: readonly string[]
  /** From the fields of a link that were recognized to the columns that have them. */
  readonly fields: Readonly<Record<string, string>>
}

/** A column, for a person who says what it has. */
export type SampledColumn = {
  readonly name: string
  /** The field that was recognized. */
  readonly field: string | null
  /** Different values from the first rows. */
  readonly samples: readonly string[]
}

const SAMPLES_MAX = 3
const SAMPLE_LENGTH_MAX = 200
/** Rows in which values are looked for. */
const ROWS_MAX = 1_000
/** In place of a password. */
const HIDDEN = '••••••'

/** Returns the columns of a file of which at least the beginning is there; none where that is no CSV. */
export async function readFileColumns(file: string): Promise<FileColumns> {
  const { names } = await readBeginning(file, 0)
  const guessed = [...guessColumns(names)].map(([field, [at = -1]]) => [field, names[at] ?? ''])
  return { names, fields: Object.fromEntries(guessed) }
}

/** The same with values of each column, except passwords. */
export async function sampleColumns(file: string): Promise<readonly SampledColumn[]> {
  const { names, samples } = await readBeginning(file, ROWS_MAX)
  const fields = new Map(
    [...guessColumns(names)].flatMap(([field, columns]) => columns.map((at) => [at, field])),
  )
  return names.map((name, at) => {
    const field = fields.get(at) ?? null
    const values = [...(samples[at] ?? [])]
    const isSecret = field === 'password' && !isFlag(name)
    return { name, field, samples: isSecret ? values.slice(0, 1).map(() => HIDDEN) : values }
  })
}

/** Returns the header, and of each column the first values that differ. */
async function readBeginning(
  file: string,
  rowsMax: number,
): Promise<{ names: readonly string[]; samples: readonly ReadonlySet<string>[] }> {
  const rows = readCsvRows(file, new AbortController().signal)
  let names: readonly string[] = []
  let samples: Set<string>[] = []
  try {
    for await (const row of rows) {
      if ('names' in row) {
        names = row.names
        samples = names.map(() => new Set())
      } else takeSamples(samples, row.values)
      if (('number' in row ? row.number : 0) >= rowsMax) break
      if (samples.every(({ size }) => size === SAMPLES_MAX)) break
    }
  } catch (error) {
    // What was read before stays: the import itself says what is wrong with the rest.
    if (!(error instanceof ImportSourceFault)) throw error
  } finally {
    await rows.return()
  }
  return { names, samples }
}

function takeSamples(samples: readonly Set<string>[], values: readonly string[]): void {
  for (const [at, sample] of samples.entries()) {
    const value = values[at]?.trim().slice(0, SAMPLE_LENGTH_MAX) ?? ''
    if (value !== '' && sample.size < SAMPLES_MAX) sample.add(value)
  }
}
