import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { countClicksAfter } from '../clicks/store/index.ts'
import { checkFiles, endRun, examineFiles, filesIdentity } from '../data-files/index.ts'
import { createFolder } from '../platform/disk/folder.ts'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import type { FileFault } from '../storage/file-fault.ts'
import {
  checkInstanceKey,
  hasInstanceKey,
  type InstanceStore,
  loadSecretKey,
} from '../storage/instance-keys.ts'
import { sqliteFile } from '../storage/sqlite/data-files.ts'
import { readLinksMark, writeLinksMark } from '../storage/sqlite/file-marks.ts'
import type { Store } from '../storage/store.ts'
import { type BlockSource, readBlocks } from './block-store.ts'
import { BackupCatalog, contentOf } from './catalog.ts'
import type { BackupCipher } from './encryption.ts'
import { type BackupContent, DamagedBackup } from './manifest.ts'
import { totalsOfFolder } from './pin.ts'
import { ensureRoom } from './place.ts'
import { NotSigned, type Signer } from './signature.ts'
import { type BackupTarget, NoRoom } from './targets/backup-target.ts'

/**
 * Opens the SQLite databases of a restored folder, which migrates them to this program's schema.
 *
 * @param onError receives what the program does not fail for
 */
export type OpenRestored = (
  dataDir: string,
  onError: (error: unknown) => void,
) => Promise<
  Store<{
    readonly instance: InstanceStore
    readonly links: {
      lastNumber(): Promise<number>
      skipNumbers(highest: number): Promise<void>
    }
  }>
>

/**
 * Restores a backup from its target into a temporary folder, and checks it as a restore does.
 *
 * @throws {DamagedBackup} when what the target has is not what was backed up
 * @throws when it cannot be restored for another reason
 */
export async function verifyBackup(
  name: string,
  parts: {
    readonly target: BackupTarget
    readonly cipher: BackupCipher
    readonly signer: Signer | undefined
    readonly key: Buffer
    readonly workFolder: string
    readonly openRestored: OpenRestored
  },
): Promise<void> {
  const { target, cipher, signer, key, workFolder, openRestored } = parts
  const folder = path.join(workFolder, 'verify')
  try {
    const manifest = await new BackupCatalog(target).read(name, signer)
    const content = await contentOf(manifest, cipher.decrypt)
    const bytes = content.files.reduce((sum, { size }) => sum + size, 0)
    await ensureRoom({ target, workFolder, bytes })
    const decrypt = 'encrypted' in manifest ? cipher.decrypt : undefined
    await writeRestoredFiles({ target, decrypt }, content, folder)
    await checkRestored(folder, content, { key, openRestored })
  } catch (error) {
    if (error instanceof DamagedBackup) throw error
    // The manifest reads back other than it was written.
    if (error instanceof NotSigned) throw new DamagedBackup(error.message)
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The backup ${name} could not be verified: ${reason}`, { cause: error })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Writes all files of a backup to a folder, and verifies each by its hash.
 *
 * @throws {DamagedBackup} when a file is damaged or incomplete in the target
 * @throws {NoRoom} when the disk of the folder is full
 */
export async function writeRestoredFiles(
  source: BlockSource,
  content: BackupContent,
  folder: string,
): Promise<void> {
  for (const file of content.files) {
    const to = path.join(folder, file.path)
    try {
      createFolder(path.dirname(to))
      const fd = openSync(to, 'wx', 0o600)
      try {
        for await (const bytes of readBlocks(source, file)) {
          for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
        }
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      throw hasErrorCode(error, 'ENOSPC') || hasErrorCode(error, 'EDQUOT') ? new NoRoom(to) : error
    }
  }
}

/**
 * How far the numbers of new links skip ahead of the restored ones. Journals, cached links and copies of the
 * folder that are newer than the backup may name up to so many links that it does not know.
 */
export const LINK_NUMBERS_SKIPPED = 2 ** 24

/**
 * Checks a restored folder in full: its totals, its files and how they belong together. With SQLite it then
 * migrates the database to this program's schema, and makes new links start above every number that was given
 * since the backup.
 *
 * @param on.key the secret key when it is not in the folder; undefined to not check it against the database
 * @throws {DamagedBackup} when the folder is not what was backed up, or that was damaged
 */
export async function checkRestored(
  dataDir: string,
  content: BackupContent,
  { key, openRestored }: { key: Buffer | undefined; openRestored: OpenRestored },
): Promise<void> {
  const totals = totalsOfFolder(dataDir, content.engine)
  if (!isDeepStrictEqual(totals, content.totals)) {
    throw new DamagedBackup(
      `the restored data differs from the totals in the manifest: expected ${JSON.stringify(content.totals)}, found ${JSON.stringify(totals)}`,
    )
  }
  if (content.engine === 'postgres') return
  const { faults } = examineFiles(dataDir, (id, from) => countClicksAfter(dataDir, id, from))
  refuse(faults)
  refuse(checkFiles(dataDir, { isFull: true, daysSinceMs: 0 }))
  await endRun(dataDir)
  markAsOriginal(dataDir)
  await migrate(dataDir, loadSecretKey(dataDir) ?? key, openRestored)
  rmSync(path.join(dataDir, 'locks'), { recursive: true, force: true })
}

function refuse(faults: readonly FileFault[]): void {
  const [first] = faults
  if (first === undefined) return
  throw new DamagedBackup(`${first.file}: ${first.text}`)
}

/** Spares the first start another full check: the files are copies, but have just been checked. */
function markAsOriginal(dataDir: string): void {
  const links = new DatabaseSync(sqliteFile(dataDir))
  try {
    const mark = readLinksMark(links)
    if (mark === undefined) return
    const identity = filesIdentity(dataDir)
    writeLinksMark(links, { ...mark, identity, uncheckedSinceMs: null })
  } finally {
    links.close()
  }
}

async function migrate(
  dataDir: string,
  key: Buffer | undefined,
  openRestored: OpenRestored,
): Promise<void> {
  const errors: unknown[] = []
  const store = await openRestored(dataDir, (error) => errors.push(error))
  try {
    if (key !== undefined && (await hasInstanceKey(store))) await checkInstanceKey(store, key)
    const last = await store.read.links.lastNumber()
    await store.write(({ links }) => links.skipNumbers(last + LINK_NUMBERS_SKIPPED))
  } finally {
    await store.close()
  }
  const [error] = errors
  if (error !== undefined) throw error
}
