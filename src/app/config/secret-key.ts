import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'

const FILE_NAME = 'secret.key'

export function secretKeyFile(dataDir: string): string {
  return path.join(dataDir, FILE_NAME)
}

/**
 * Reads the instance's 32-byte key from the data folder; undefined when there is none yet.
 *
 * @throws when the file holds no key, or other users can read it
 */
export function loadSecretKey(dataDir: string): Buffer | undefined {
  return readKey(secretKeyFile(dataDir))
}

/**
 * Reads the instance's 32-byte key from the data folder, or creates it there, readable only by its
 * owner. Two processes that start at once get the same key: each writes a file under another name and
 * links it into place, which only one of them can do.
 *
 * @throws when the file holds no key, or other users can read it
 */
export function loadOrCreateSecretKey(dataDir: string): Buffer {
  createFolder(dataDir)
  const file = secretKeyFile(dataDir)
  const existing = readKey(file)
  if (existing !== undefined) return existing

  const aside = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(aside, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(aside, file)
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(aside, { force: true })
  }
  const key = readKey(file)
  if (key === undefined) throw new Error(`${file} was removed while it was being made`)
  return key
}

function readKey(file: string): Buffer | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new Error(
      `${file} is damaged: it must hold 64 hexadecimal digits. Restore it from a backup.`,
    )
  }
  if ((statSync(file).mode & 0o077) !== 0) {
    throw new Error(`${file} can be read by others; run: chmod 600 ${file}`)
  }
  return Buffer.from(text, 'hex')
}
