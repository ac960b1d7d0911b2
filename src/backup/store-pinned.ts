import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { formatDay, parseDay } from '../clicks/index.ts'
import { journalsRoot, listJournals } from '../clicks/store/index.ts'
import type { BlockStore } from './block-store.ts'
import type { BackupCatalog } from './catalog.ts'
import type { BackupFile, BackupTotals } from './manifest.ts'
import type { PinnedDatabase, PinnedDatabases, PinnedFolder, PinnedJournals } from './pin.ts'
import { ensureRoom } from './place.ts'
import type { DayRecord } from './records.ts'
import { decideExpired, type Retention } from './retention.ts'
import type { BackupTarget } from './targets/backup-target.ts'

export type StoredDays = ReadonlyMap<number, DayRecord>

type StoringParts = {
  readonly blocks: BlockStore
  /** Days that the target has. */
  readonly known: StoredDays
  readonly target: BackupTarget
  readonly workFolder: string
}

/** Returns the recorded days whose files are in the target. */
export function knownDays(
  records: Readonly<Record<string, DayRecord>>,
  blocks: BlockStore,
): StoredDays {
  const days = new Map<number, DayRecord>()
  for (const [text, record] of Object.entries(records)) {
    const day = parseDay(text)
    if (day === undefined || !blocks.holds(record.file)) continue
    days.set(day, record)
  }
  return days
}

/** Stores what is pinned, and releases the pins. */
export async function storePinned(
  { databases, journals }: PinnedFolder,
  parts: StoringParts,
): Promise<{
  readonly files: readonly BackupFile[]
  readonly totals: BackupTotals
  /** By day, such as 2026-11-22: the files that need not be stored again unless they change. */
  readonly days: ReadonlyMap<string, DayRecord>
}> {
  try {
    if (databases !== undefined) await copyWritten(databases, parts)
    const links = databases && (await storeLinks(databases, parts))
    const journalled = await storeJournals(journals, parts)
    const days = databases && (await storeDays(databases, parts))
    return {
      files: [...(links?.files ?? []), ...journalled.files, ...(days?.files ?? [])],
      totals: {
        database: links && days ? { ...links.totals, rowsByDay: days.rowsByDay } : null,
        pending: journalled.pending,
      },
      days: days?.records ?? new Map(),
    }
  } finally {
    databases?.release()
    journals.release()
  }
}

/**
 * Copies what the service writes to, and releases it before anything is stored: a slow target must not keep the
 * write-ahead logs from being reset. The other days' files are not written to, and are copied one at a time.
 */
async function copyWritten(
  { links, clicks, days }: PinnedDatabases,
  { target, workFolder }: StoringParts,
): Promise<void> {
  const written = [links, clicks, ...days.filter(isWritten).map(({ file }) => file)]
  const bytes = written.reduce((sum, pinned) => sum + pinned.bytes, 0)
  await ensureRoom({ target, workFolder, bytes })
  for (const pinned of written) {
    await pinned.copyTo(copyOf(workFolder, pinned))
    pinned.release()
  }
}

function isWritten({ stamp }: PinnedDatabases['days'][number]): boolean {
  return stamp === undefined
}

async function storeLinks({ links, clicks, totals }: PinnedDatabases, parts: StoringParts) {
  const files = [await storeDatabase(links, parts), await storeDatabase(clicks, parts)]
  return { files, totals }
}

async function storeDays({ days, unchangedDays }: PinnedDatabases, parts: StoringParts) {
  const files: BackupFile[] = []
  const rowsByDay: Record<string, number> = {}
  const records = new Map<string, DayRecord>()
  for (const day of unchangedDays) {
    const record = parts.known.get(day)
    if (record === undefined) throw new Error('a day is unchanged but not known')
    files.push(record.file)
    rowsByDay[formatDay(day)] = record.rows
    records.set(formatDay(day), record)
  }
  for (const { day, rows, file: pinned, stamp } of days) {
    const file = await storeDatabase(pinned, parts)
    files.push(file)
    rowsByDay[formatDay(day)] = rows
    if (stamp !== undefined) records.set(formatDay(day), { stamp, rows, file })
  }
  return { files, rowsByDay, records }
}

async function storeDatabase(
  pinned: PinnedDatabase,
  { blocks, target, workFolder }: StoringParts,
): Promise<BackupFile> {
  const copy = copyOf(workFolder, pinned)
  try {
    if (!existsSync(copy)) {
      await ensureRoom({ target, workFolder, bytes: pinned.bytes })
      await pinned.copyTo(copy)
      pinned.release()
    }
    return await blocks.storeWhole(pinned.path, copy, statSync(copy).size)
  } finally {
    rmSync(copy, { force: true })
  }
}

function copyOf(workFolder: string, { path: name }: PinnedDatabase): string {
  return path.join(workFolder, path.basename(name))
}

async function storeJournals(journals: PinnedJournals, { blocks, workFolder }: StoringParts) {
  const pending = journals.copyTo(workFolder)
  const root = journalsRoot(workFolder)
  const files: BackupFile[] = []
  for (const id of listJournals(root)) {
    for (const name of readdirSync(path.join(root, id)).sort()) {
      const file = path.join(root, id, name)
      files.push(await blocks.storeWhole(`journal/${id}/${name}`, file, statSync(file).size))
    }
  }
  return { files, pending: Object.fromEntries(pending) }
}

/**
 * Removes backups that are no longer needed, and the blocks that no other backup needs, also those that a killed
 * backup left.
 *
 * @param options.retention undefined to keep all backups
 * @param options.kept backups that are needed in any case
 * @returns the names of the removed backups
 * @throws when a backup was made by a newer release; then nothing is removed, because its blocks are not known
 */
export async function pruneBackups(options: {
  readonly catalog: BackupCatalog
  readonly blocks: BlockStore
  readonly retention: Retention | undefined
  readonly kept: ReadonlySet<string>
}): Promise<readonly string[]> {
  const { catalog, blocks, retention, kept } = options
  const backups = await catalog.list()
  const expired = retention === undefined ? [] : decideExpired(backups, retention, kept)
  const expiredNames = new Set(expired.map(({ name }) => name))
  // The manifests first: a backup whose blocks are missing must not look complete.
  for (const name of expiredNames) await catalog.remove(name)
  const left = backups.filter(({ name }) => !expiredNames.has(name))
  await catalog.sweep()
  await blocks.sweep(new Set(left.flatMap(({ blocks }) => blocks)))
  return [...expiredNames]
}
