import type {
  CreateImportInput,
  ReviveImportsInput,
  StartImportInput,
} from '@terse/contract/imports'
import type { Actor } from '../identity/index.ts'
import { isUuid, type Random, uuidV7 } from '../platform/crypto/random.ts'
import type { Sealing } from '../platform/crypto/sealing.ts'
import { Failure } from '../platform/failure.ts'
import type { IdempotentRequest } from '../platform/http/api/idempotency.ts'
import type { Clock } from '../platform/time/clock.ts'
import { runIdempotent } from '../storage/idempotency.ts'
import type { Store } from '../storage/store.ts'
import {
  type Import,
  type ImportedLink,
  type ImportOptions,
  importEvent,
  type NewImport,
  NO_COUNTS,
  newImport,
  REVIVAL,
} from './import.ts'
import {
  type FileColumns,
  type ImportFiles,
  readFileColumns,
  type SampledColumn,
  sampleColumns,
} from './import-files.ts'
import { reportCsv } from './report.ts'
import {
  SOURCE_ACCESS,
  SourceInputError,
  type SourceKind,
  type SourceSettings,
  sourceSettings,
} from './source-kinds.ts'
import type { ImportRun, ImportStores } from './store/import-store.ts'

/** Imports of a workspace that have not ended. */
const UNENDED_MAX = 100
/** The most of these imports that have a file, which may have 1 GiB. */
const FILES_MAX = 5
const STARTABLE: ReadonlySet<Import['status']> = new Set(['waiting', 'failed'])

type Secrets = Pick<CreateImportInput, 'url' | 'token' | 'source_domains'>

type Dependencies = {
  readonly store: Store<ImportStores>
  readonly clock: Clock
  readonly random: Random
  readonly sealing: Sealing
  readonly files: ImportFiles
  /** Called when an import became due. */
  readonly onDue: () => void
}

/** The operations on imports. Each acts within the workspace of its actor. */
export class Imports {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @throws {Failure} `validation_failed`, `idempotency_conflict` */
  async create(
    actor: Actor,
    input: CreateImportInput,
    repeatable?: IdempotentRequest,
  ): Promise<Import> {
    const { clock, random } = this.#deps
    const { source, url, token, source_domains } = input
    const options = optionsOf(input)
    const secrets = { url, token, source_domains }
    const isFile = SOURCE_ACCESS[source] === 'file'
    // What is missing is found out now, not when the import starts.
    settingsOf({ source, options }, secrets, isFile ? '-' : undefined)
    const now = clock.nowMicros()
    const id = uuidV7(clock, random)
    const request = { source, isDryRun: false, options }
    const added = {
      ...newImport(actor, request, { id, now }),
      sealed_settings: isFile ? null : this.#seal(id, secrets),
    }
    return this.#insert(actor, added, repeatable)
  }

  /**
   * Queues a revival, or a dry run of it, on behalf of the actor.
   *
   * @throws {Failure} `validation_failed`, `idempotency_conflict`
   */
  async revive(
    actor: Actor,
    input: ReviveImportsInput,
    repeatable?: IdempotentRequest,
  ): Promise<Import> {
    const { clock, random, onDue } = this.#deps
    const now = clock.nowMicros()
    const request: NewImport = {
      source: REVIVAL,
      isDryRun: input.dry_run === true,
      options: optionsOf({}),
    }
    const added = {
      ...newImport(actor, request, { id: uuidV7(clock, random), now }),
      ...{ status: 'queued' as const, next_at: now, fence: 1 },
    }
    const created = await this.#insert(actor, added, repeatable)
    onDue()
    return created
  }

  /** @throws {Failure} `not_found` */
  async get({ workspaceId }: Actor, id: string): Promise<Import> {
    const { imports } = this.#deps.store.read
    const found = isUuid(id) ? await imports.find(workspaceId, id) : undefined
    if (found === undefined) throw Failure.notFound('Import')
    return found
  }

  /** Newest first. */
  list({ workspaceId }: Actor, run: ImportRun): Promise<readonly Import[]> {
    return this.#deps.store.read.imports.list(workspaceId, run)
  }

  count({ workspaceId }: Actor): Promise<number> {
    return this.#deps.store.read.imports.count(workspaceId)
  }

  /**
   * Takes a part of the file. The file is on the node that gets its first part, so all parts must go there.
   *
   * @throws {Failure} `not_found`, `validation_failed`, `unavailable` when there is no room
   */
  async receive(actor: Actor, id: string, offset: number, part: Uint8Array): Promise<Import> {
    const { store, files, random } = this.#deps
    const found = await this.get(actor, id)
    const { source, status, fence } = found
    if (SOURCE_ACCESS[source as SourceKind] !== 'file') {
      throw Failure.invalid({ file: [{ code: 'not_needed', source }] })
    }
    if (status !== 'waiting') throw Failure.invalid({ file: [{ code: 'import_begun' }] })
    const isNew = found.file_id === null
    if (isNew && (await store.read.imports.countUnended(actor.workspaceId)).files >= FILES_MAX) {
      throw Failure.invalid({
        file: [{ code: 'limit_reached', reason: 'import_files', max: FILES_MAX }],
      })
    }
    const fileId =
      found.file_id !== null && (offset > 0 || files.has(found.file_id))
        ? found.file_id
        : `${id}.${Buffer.from(random(8)).toString('hex')}`
    const file_bytes = await files.write(fileId, offset, part)
    const isCsv = source === 'csv' || source === 'dub-csv'
    const columns =
      isCsv && offset === 0
        ? JSON.stringify(await readFileColumns(files.pathOf(fileId)))
        : found.file_columns
    const changes = { file_id: fileId, file_bytes, file_columns: columns }
    let isTaken = false
    try {
      isTaken = await store.write((stores) => stores.imports.update(id, fence, changes))
    } finally {
      // The next part comes under another name, as this one was not stored.
      if (!isTaken && fileId !== found.file_id) await files.remove(fileId)
    }
    if (!isTaken) throw Failure.invalid({ file: [{ code: 'import_begun' }] })
    return { ...found, ...changes }
  }

  /**
   * Queues an import, or a dry run of it, on behalf of the actor. A failed one goes on where it was.
   *
   * @throws {Failure} `not_found`, `validation_failed`
   */
  async start(actor: Actor, id: string, input: StartImportInput): Promise<Import> {
    const { store, clock, onDue } = this.#deps
    const found = await this.get(actor, id)
    const wasDry = found.is_dry_run === 1
    const isDone = found.status === 'succeeded' && wasDry
    if (found.runner !== 'service' || !(STARTABLE.has(found.status) || isDone)) {
      throw Failure.invalid({
        status: [{ code: 'import_not_startable', reason: 'status', status: found.status }],
      })
    }
    const needsFile = SOURCE_ACCESS[found.source as SourceKind] === 'file'
    if (needsFile && found.file_id === null) throw Failure.invalid({ file: [{ code: 'required' }] })
    const isRevival = found.source === REVIVAL
    if (!needsFile && !isRevival && found.sealed_settings === null) {
      throw Failure.invalid({ status: [{ code: 'import_not_startable', reason: 'token' }] })
    }
    // One that ended before its first row, such as for a column that is not recognized, may begin otherwise.
    const isFresh = wasDry || found.started_at === null || found.rows_done === 0
    const isDryRun = input.dry_run === true
    const options = { ...found.options, ...givenOptions(input) }
    if (!isFresh && (isDryRun || JSON.stringify(options) !== JSON.stringify(found.options))) {
      throw Failure.invalid({ status: [{ code: 'import_not_startable', reason: 'options' }] })
    }
    const begin = { is_dry_run: Number(isDryRun), options, counts: NO_COUNTS, rows_done: 0 }
    const changes = {
      status: 'queued' as const,
      fault: null,
      ended_at: null,
      next_at: clock.nowMicros(),
      fence: found.fence + 1,
      lease_until: null,
      attempts: 0,
      leased_at: null,
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name: actor.name,
      ...(isFresh && { ...begin, resume: null, ahead: [], started_at: null, origin: null }),
    }
    const isStarted = await store.write((stores) => stores.imports.update(id, found.fence, changes))
    if (!isStarted)
      throw Failure.invalid({ status: [{ code: 'import_not_startable', reason: 'changed' }] })
    onDue()
    return { ...found, ...changes }
  }

  /**
   * Ends an import. What it has written stays, and so does its report. Does nothing to one that has ended.
   *
   * @throws {Failure} `not_found`
   */
  async cancel(actor: Actor, id: string): Promise<Import> {
    const { store, clock, files, onDue } = this.#deps
    const found = await this.get(actor, id)
    if (found.status === 'succeeded' && found.is_dry_run === 0) return found
    if (found.status === 'cancelled') return found
    const now = clock.nowMicros()
    const hasWritten = found.is_dry_run === 0 && found.started_at !== null
    const changes = {
      status: 'cancelled' as const,
      fence: found.fence + 1,
      lease_until: null,
      attempts: 0,
      leased_at: null,
      ended_at: now,
      // A node counts the clicks that were taken.
      next_at: hasWritten ? now : null,
      sealed_settings: null,
      file_id: null,
    }
    const cancelled = { ...found, ...changes }
    const isCancelled = await store.write(async (stores) => {
      if (!(await stores.imports.update(id, found.fence, changes))) return false
      await stores.events.append(actor, importEvent('import.cancelled', cancelled), now)
      return true
    })
    // It was started or leased since it was read.
    if (!isCancelled) return this.cancel(actor, id)
    if (found.file_id !== null) await files.remove(found.file_id)
    if (hasWritten) onDue()
    return cancelled
  }

  /**
   * Returns the columns of a CSV file, with values while the file is on this node; none of another source.
   *
   * @throws {Failure} `not_found`
   */
  async columns(actor: Actor, id: string): Promise<readonly SampledColumn[]> {
    const { files } = this.#deps
    const { file_id: fileId, file_columns: stored } = await this.get(actor, id)
    if (stored === null) return []
    if (fileId !== null && files.has(fileId)) return sampleColumns(files.pathOf(fileId))
    const { names, fields }: FileColumns = JSON.parse(stored)
    const recognized = new Map(Object.entries(fields).map(([field, name]) => [name, field]))
    return names.map((name) => ({ name, field: recognized.get(name) ?? null, samples: [] }))
  }

  /** @throws {Failure} `not_found` */
  async report(actor: Actor, id: string): Promise<AsyncGenerator<string, void, void>> {
    await this.get(actor, id)
    return reportCsv(this.#deps.store, id)
  }

  /** From where a link came; undefined for one that was not imported. */
  async originOf({ workspaceId }: Actor, linkSeq: number): Promise<ImportedLink | undefined> {
    const [found] = await this.#deps.store.read.importRows.findByLink(workspaceId, [linkSeq])
    return found
  }

  /** Which of the files on this node belong to imports that may need them. */
  async filesNeededAmong(fileIds: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(await this.#deps.store.read.imports.findFilesAmong(fileIds))
  }

  /** How to open the source of an import that this node runs. */
  settingsOf({ id, source, options, file_id, sealed_settings }: Import): SourceSettings {
    const { files, sealing } = this.#deps
    const sealed = sealed_settings && Buffer.from(sealed_settings, 'base64')
    const plain = sealed && sealing.unseal(sealed, contextOf(id))
    const secrets: Secrets = plain ? JSON.parse(plain.toString()) : {}
    return settingsOf(
      { source: source as SourceKind, options },
      secrets,
      file_id === null ? undefined : files.pathOf(file_id),
    )
  }

  /** @throws {Failure} `validation_failed` when too many imports have not ended, `idempotency_conflict` */
  #insert(
    { workspaceId }: Actor,
    added: Import,
    repeatable: IdempotentRequest | undefined,
  ): Promise<Import> {
    const { store } = this.#deps
    return store.write((stores) =>
      runIdempotent(stores, workspaceId, repeatable, added.created_at, {
        read: () => stores.quotas.lock(workspaceId),
        async write() {
          const { imports } = await stores.imports.countUnended(workspaceId)
          if (imports >= UNENDED_MAX) {
            throw Failure.invalid({
              source: [{ code: 'limit_reached', reason: 'imports', max: UNENDED_MAX }],
            })
          }
          await stores.imports.insert(added)
          // The settings end with the import; what is stored for a repetition lasts longer.
          return { ...added, sealed_settings: null }
        },
      }),
    )
  }

  #seal(id: string, secrets: Secrets): string {
    const plain = Buffer.from(JSON.stringify(secrets))
    return this.#deps.sealing.seal(plain, contextOf(id)).toString('base64')
  }
}

function contextOf(id: string): string {
  return `import ${id}`
}

function settingsOf(
  { source, options }: { readonly source: SourceKind; readonly options: ImportOptions },
  { url, token, source_domains }: Secrets,
  file: string | undefined,
): SourceSettings {
  const { timeZone, columns, ignoredColumns = [] } = options
  const given = { file, url, token, domains: source_domains, timeZone, columns, ignoredColumns }
  try {
    return sourceSettings(source, given)
  } catch (error) {
    if (!(error instanceof SourceInputError)) throw error
    throw Failure.invalid({ [error.field]: [error.fault] })
  }
}

function optionsOf(input: StartImportInput): ImportOptions {
  return { domains: {}, onConflict: 'skip', timeZone: 'UTC', columns: {}, ...givenOptions(input) }
}

function givenOptions(input: StartImportInput): Partial<ImportOptions> {
  const { domains, on_conflict, time_zone, timezone = time_zone, columns, ignored_columns } = input
  return {
    ...(domains && { domains }),
    ...(on_conflict && { onConflict: on_conflict }),
    ...(timezone && { timeZone: timezone }),
    ...(columns && { columns }),
    ...(ignored_columns && { ignoredColumns: ignored_columns }),
  }
}
