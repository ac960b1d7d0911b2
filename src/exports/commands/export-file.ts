import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, truncate } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'

/** Only its owner may read an export. */
const MODE = 0o600
const CURSOR_LINE = /^\{"type":"cursor","cursor":"([^"]+)"\}$/

/** What an earlier run has written of the same file. */
type Part = {
  /** Undefined when nothing of it can be used. */
  readonly cursor: string | undefined
  /** The bytes up to and including the line of that cursor. */
  readonly bytes: number
}

/**
 * Writes an export to a file that gets its name when it is complete. Until then it is `<file>.part`, with which
 * the next run goes on.
 *
 * @param openExport opens the export after a cursor, or from its beginning
 * @param canResume whether the format has cursors
 */
export async function writeExportFile(
  file: string,
  openExport: (cursor: string | undefined) => Promise<Readable>,
  canResume: boolean,
): Promise<void> {
  const part = `${file}.part`
  const { cursor, bytes } = canResume ? await readPart(part) : { cursor: undefined, bytes: 0 }
  const stream = await openExport(cursor)
  if (cursor !== undefined) await truncate(part, bytes)
  const flags = cursor === undefined ? 'w' : 'a'
  await pipeline(stream, createWriteStream(part, { flags, mode: MODE }))
  const written = await open(part, 'r')
  try {
    await written.sync()
  } finally {
    await written.close()
  }
  await rename(part, file)
}

async function readPart(part: string): Promise<Part> {
  const found: { cursor: string | undefined; bytes: number } = { cursor: undefined, bytes: 0 }
  let bytes = 0
  try {
    for await (const line of createInterface({ input: createReadStream(part) })) {
      bytes += Buffer.byteLength(line) + 1
      const [, cursor] = CURSOR_LINE.exec(line) ?? []
      if (cursor !== undefined) Object.assign(found, { cursor, bytes })
    }
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error
  }
  return found
}
