import { z } from 'zod'

/** The format of manifests that this program writes. It reads no newer one. */
export const MANIFEST_FORMAT = 1

/** A backup's name: its consistent instant in UTC and random digits, so that names sort by time. */
const BACKUP_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f]{8}$/
const BLOCK_NAME = /^[0-9a-f]{64}$/
/**
 * The files that a backup may hold. A manifest is input: any other path could leave the folder that is
 * restored.
 */
const FILE_PATH =
  /^(?:terse\.db|clicks\.db|secret\.key|terse\.env|clicks\/[+-]?\d{4,6}-\d\d-\d\d\.db|journal\/[0-9a-f-]{36}\/(?:lock|\d{10}\.journal))$/

/** Thrown when a target does not hold what was stored there. The message says what, as a sentence without its full stop. */
export class DamagedBackup extends Error {
  override readonly name = 'DamagedBackup'
  /** The blocks that are damaged or missing, as far as they are known. */
  readonly blocks: readonly string[]

  constructor(message: string, blocks: readonly string[] = []) {
    super(message)
    this.blocks = blocks
  }
}

const count = z.int().nonnegative()

/** What can be counted in a backup and in what was restored from it, to compare the two. */
const totalsSchema = z.strictObject({
  /** Null when the links are in PostgreSQL. */
  database: z
    .strictObject({
      schemaVersion: count,
      workspaces: count,
      links: count,
      /** The last number that a link has got; deleted links keep theirs. */
      lastLink: count,
      /** Counted clicks of people, and the transactions that brought them. */
      clicks: count,
      batches: count,
      /** Stored single clicks by UTC day, such as 2026-11-22. */
      rowsByDay: z.record(z.string(), count),
    })
    .nullable(),
  /** Clicks that are in the journals and not yet counted, by journal. */
  pending: z.record(z.string(), count),
})
export type BackupTotals = z.output<typeof totalsSchema>

const backupFileSchema = z.strictObject({
  path: z.string().regex(FILE_PATH),
  size: count,
  sha256: z.string().regex(BLOCK_NAME),
  /** The blocks whose contents, one after the other, are the file. */
  blocks: z.array(z.string().regex(BLOCK_NAME)),
})
export type BackupFile = z.output<typeof backupFileSchema>

const contentSchema = z.strictObject({
  /** Where links and counts are. */
  engine: z.enum(['sqlite', 'postgres']),
  /** `included` when the key is among the files, `external` when `TERSE_SECRET_KEY` held it. */
  secretKey: z.enum(['included', 'external']),
  files: z.array(backupFileSchema),
  totals: totalsSchema,
})
export type BackupContent = z.output<typeof contentSchema>

const headSchema = z.strictObject({
  format: z.int().positive(),
  /** The version of the program that made the backup. */
  terse: z.string(),
  name: z.string().regex(BACKUP_NAME),
  /** Everything that was answered before this instant is in the backup. */
  consistentAt: z.iso.datetime(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /** Every block that the backup needs. Not encrypted, so that unneeded blocks can be removed. */
  blocks: z.array(z.string().regex(BLOCK_NAME)),
  /** Their sum, as stored. */
  storedBytes: count,
})
export type BackupHead = z.output<typeof headSchema>

/** A manifest as it is stored: the content is encrypted, or readable. */
const storedSchema = z.union([
  headSchema.extend({ content: contentSchema }),
  headSchema.extend({ encrypted: z.base64() }),
])
export type StoredManifest = z.output<typeof storedSchema>

/**
 * Reads a stored manifest.
 *
 * @throws {DamagedBackup} when it is damaged
 * @throws when it is of a newer format
 */
export function parseManifest(text: string, name: string): StoredManifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damagedManifest(name)
  }
  const format = z.looseObject({ format: z.int() }).safeParse(value)
  if (format.success && format.data.format > MANIFEST_FORMAT) {
    throw new Error(
      `The backup ${name} was made by a newer release of Terse. Restore it with that release.`,
    )
  }
  const parsed = storedSchema.safeParse(value)
  if (!parsed.success || parsed.data.name !== name) throw damagedManifest(name)
  return parsed.data
}

/**
 * Reads the decrypted content of a manifest.
 *
 * @throws {DamagedBackup} when it is damaged
 */
export function parseContent(text: string, name: string): BackupContent {
  try {
    return contentSchema.parse(JSON.parse(text))
  } catch {
    throw damagedManifest(name)
  }
}

export function isBackupName(name: string): boolean {
  return BACKUP_NAME.test(name)
}

export function formatBackupName(consistentAt: Date, suffix: string): string {
  return `${consistentAt.toISOString().replaceAll(/[:.]/g, '-')}-${suffix}`
}

/** Returns everything in the text of a damaged manifest that may be the name of a block. */
export function findBlockNames(text: string): readonly string[] {
  return text.match(/[0-9a-f]{64}/g) ?? []
}

/** Returns the consistent instant of a backup of that name. */
export function parseBackupName(name: string): Date {
  const [date = '', time = ''] = name.split('T')
  const [hours, minutes, seconds, milliseconds] = time.split(/-|Z/)
  return new Date(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`)
}

export function damagedManifest(name: string): DamagedBackup {
  return new DamagedBackup(`the manifest of the backup ${name} is damaged`)
}
