import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '../platform/failure.ts'
import { backoffMs } from '../platform/work/async.ts'
import { type BatchDependencies, BatchWriter, type ImportRun } from './batch-writer.ts'
import { authorOfImport, endImport, requireImporter } from './end-import.ts'
import {
  type Import,
  ImportFault,
  ImportTakenOver,
  importEvent,
  LEASE_MICROS,
  REVIVAL,
} from './import.ts'
import { importDomains } from './import-candidate.ts'
import { type ImportRecord, type ImportSource, ImportSourceFault } from './import-source.ts'
import { importedLinks, ReviveWriter } from './revive/revive-links.ts'

/** What fills a batch: its transaction takes some 20 ms. */
const BATCH_WEIGHT = 1_000
const LINK_WEIGHT = 4
/** Hashing a password takes as long as writing many links, and the batch must be written soon. */
const PASSWORD_WEIGHT = 50
/** They may have hundreds of KiB. */
const SETTINGS_WEIGHT = 50
const BATCH_AGE_MS = 1_000
/** Between two transactions, as a part of what one takes: others write then, and visitors come first. */
const PAUSE_RATIO = 0.5
const PAUSE_MS_MAX = 100

const ATTEMPTS_MAX = 8
const ROWS_PER_DELETE = 1_000
const RETRY_BASE_MS = 500
const RETRY_CAP_MS = 60_000

type Dependencies = BatchDependencies & {
  /** The host for links of sources that name none, where the workspace has no domain. */
  readonly serviceHost: string
  /** Called after each transaction. */
  readonly onProgress: (of: Import) => void
  /** Called before a retry, with why. */
  readonly onRetry: (error: Error, delayMs: number) => void
}

/** Runs an import that this process has leased, from where its last transaction left it. */
export class Importer {
  readonly #deps: Dependencies
  readonly #writer: BatchWriter
  readonly #reviver: ReviveWriter

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#writer = new BatchWriter(deps)
    this.#reviver = new ReviveWriter(deps)
  }

  /** Runs a revival as `run` runs an import: its source is what earlier imports kept. */
  revive(leased: Import, at: { readonly signal: AbortSignal }): Promise<Import> {
    const open = async () => importedLinks(this.#deps.store, leased.workspace_id)
    return this.run(leased, open, { ...at, originOf: (name) => name })
  }

  /**
   * Opens the source, and returns the import as it ended: it has succeeded or failed. It fails when
   * the person or token that started it may no longer create links.
   *
   * @param at.originOf returns the source's name and which source of that name it is
   * @throws {ImportTakenOver} when another process runs it, or it was cancelled
   * @throws the signal's reason when it is aborted
   */
  async run(
    leased: Import,
    openSource: () => Promise<ImportSource>,
    at: { readonly originOf: (name: string) => string; readonly signal: AbortSignal },
  ): Promise<Import> {
    const lost = new AbortController()
    const signal = AbortSignal.any([at.signal, lost.signal])
    const renewing = setInterval(() => this.#renew(leased, lost), LEASE_MICROS / 3_000)
    let source: ImportSource | undefined
    try {
      await this.#patiently(signal, () => this.#requireImporter(leased))
      source = await this.#retry(signal, isTransient, openSource)
      let current = await this.#begin(leased, source, at.originOf(source.name), signal)
      const hostOf = importDomains(current.options, current.options.fallbackHost ?? undefined)
      current = await this.#readAll({ import: current, hostOf }, source, signal)
      current = await (current.is_dry_run === 1
        ? this.#finishDryRun(current, signal)
        : this.#finishClicks(current, signal))
      return await this.#end(current, null, signal)
    } catch (error) {
      if (!(error instanceof ImportFault || error instanceof ImportSourceFault)) throw error
      const latest = await this.#patiently(signal, () => this.#latest(leased))
      return await this.#end(latest, error.message, signal)
    } finally {
      clearInterval(renewing)
      await source?.close()
    }
  }

  /** Counts the clicks that a cancelled import took. */
  async finishCancelled(leased: Import, signal: AbortSignal): Promise<void> {
    const finished = await this.#finishClicks(leased, signal)
    const done = { next_at: null, lease_until: null }
    const { store } = this.#deps
    await this.#patiently(signal, () =>
      store.write(({ imports }) => imports.update(finished.id, finished.fence, done)),
    )
  }

  /** Ends the lease, after this process has stopped. Does nothing to an import that has ended. */
  async release({ id, fence }: Import): Promise<void> {
    const { store, clock } = this.#deps
    const lease_until = clock.nowMicros()
    await store.write(({ imports }) => imports.update(id, fence, { lease_until }))
  }

  async #begin(
    leased: Import,
    source: ImportSource,
    origin: string,
    signal: AbortSignal,
  ): Promise<Import> {
    if (leased.origin !== null && leased.origin !== origin) {
      throw new ImportFault('This is not the source with which the import began.')
    }
    const now = this.#deps.clock.nowMicros()
    const isNew = leased.started_at === null
    // Remove the report of a dry run before.
    while (isNew && (await this.#patiently(signal, () => this.#deleteRows(leased)))) {
      signal.throwIfAborted()
    }
    const expected = await this.#retry(signal, isTransient, () => source.countLinks(signal))
    const { fallbackHost: known } = leased.options
    const fallbackHost =
      isNew || known === undefined
        ? await this.#patiently(signal, () => this.#fallbackHost(leased))
        : known
    const changes = {
      origin,
      // A domain that is added meanwhile changes nothing for the rest of the links.
      options: { ...leased.options, fallbackHost },
      status: 'reading' as const,
      started_at: leased.started_at ?? now,
      links_expected: expected ?? null,
      lease_until: now + LEASE_MICROS,
    }
    const begun = { ...leased, ...changes }
    await this.#patiently(signal, () =>
      this.#deps.store.write(async (stores) => {
        const stored = await stores.imports.find(leased.workspace_id, leased.id)
        if (!(await stores.imports.update(leased.id, leased.fence, changes))) {
          throw new ImportTakenOver()
        }
        // The database may have gone down after it had stored this.
        if (stored?.started_at === null && leased.is_dry_run === 0) {
          await stores.events.append(
            authorOfImport(begun),
            importEvent('import.started', begun),
            now,
          )
        }
      }),
    )
    return begun
  }

  #requireImporter(of: Import) {
    const { store, clock } = this.#deps
    return requireImporter(store.read, of, { nowMicros: clock.nowMicros(), isUse: false })
  }

  #deleteRows({ id }: Import): Promise<boolean> {
    return this.#deps.store.write(
      async ({ importRows }) =>
        (await importRows.deleteDryRun(id, ROWS_PER_DELETE)) ||
        (await importRows.delete(id, ROWS_PER_DELETE)),
    )
  }

  /** Computes the opening balances that the import would have. */
  async #finishDryRun(of: Import, signal: AbortSignal): Promise<Import> {
    const { store } = this.#deps
    const opening = await this.#patiently(signal, () =>
      store.read.importRows.openingOfDryRun(of.id),
    )
    const counts = { ...of.counts, clicks_opening: opening }
    await this.#patiently(signal, () =>
      store.write(async ({ imports }) => {
        if (!(await imports.update(of.id, of.fence, { counts }))) throw new ImportTakenOver()
      }),
    )
    while (
      await this.#patiently(signal, () =>
        store.write(({ importRows }) => importRows.deleteDryRun(of.id, ROWS_PER_DELETE)),
      )
    ) {
      signal.throwIfAborted()
    }
    return { ...of, counts }
  }

  /** Links without a domain go to the only domain of the workspace, or to the service's own host if it has none. */
  async #fallbackHost({ workspace_id: workspaceId }: Import): Promise<string | null> {
    const { store, serviceHost } = this.#deps
    const { items } = await store.read.domains.page({ workspaceId }, 0, 2)
    if (items.length > 1) return null
    return items[0]?.host ?? serviceHost
  }

  /** Reads on behind the last written record when the source failed for a moment. */
  async #readAll(begun: ImportRun, source: ImportSource, signal: AbortSignal): Promise<Import> {
    let run = begun
    return this.#retry(signal, isTransient, async (onProgress) => {
      let batch: ImportRecord[] = []
      let weight = 0
      let startedMs = performance.now()
      const flush = async () => {
        run = { ...run, import: await this.#write(run, batch, signal) }
        batch = []
        weight = 0
        onProgress()
      }
      const resume = run.import.resume ?? undefined
      try {
        for await (const record of source.read({ resume, signal })) {
          signal.throwIfAborted()
          if (batch.length === 0) startedMs = performance.now()
          batch.push(record)
          weight += weightOf(record)
          const isOld = performance.now() - startedMs > BATCH_AGE_MS
          if (weight >= BATCH_WEIGHT || isOld) await flush()
        }
      } catch (error) {
        // What an incomplete file holds is taken, up to where it ends.
        const isSourceAtFault = error instanceof ImportSourceFault && !error.isTransient
        if (isSourceAtFault && batch.length > 0) await flush()
        throw error
      }
      if (batch.length > 0) await flush()
      return run.import
    })
  }

  /** Writes a batch, also when the database is down for a while. */
  async #write(
    run: ImportRun,
    batch: readonly ImportRecord[],
    signal: AbortSignal,
  ): Promise<Import> {
    const startedMs = performance.now()
    let current = run
    let left = batch
    const written = await this.#patiently(signal, async () => {
      try {
        const writer = run.import.source === REVIVAL ? this.#reviver : this.#writer
        return await writer.write(current, left)
      } catch (error) {
        if (!isUnavailable(error)) throw error
        // Whether the last transaction was committed is not known before the database answers again.
        const latest = await this.#latest(run.import)
        left = behind(left, current.import, latest)
        current = { ...run, import: latest }
        throw error
      }
    })
    this.#deps.onProgress(written)
    await sleep(Math.min(PAUSE_MS_MAX, (performance.now() - startedMs) * PAUSE_RATIO))
    return written
  }

  async #finishClicks(of: Import, signal: AbortSignal): Promise<Import> {
    const { clicks, store } = this.#deps
    const at = { importId: of.id, workspaceId: of.workspace_id }
    const { opening } = await this.#patiently(signal, () => clicks.finish(at, signal))
    const counts = { ...of.counts, clicks_opening: opening }
    await this.#patiently(signal, () =>
      store.write(async (stores) => {
        if (!(await stores.imports.update(of.id, of.fence, { counts }))) throw new ImportTakenOver()
      }),
    )
    return { ...of, counts }
  }

  #end(of: Import, fault: string | null, signal: AbortSignal): Promise<Import> {
    const { store, clock } = this.#deps
    const end = { fault, nowMicros: clock.nowMicros() }
    return this.#patiently(signal, () => endImport(store, of, end))
  }

  async #latest(of: Import): Promise<Import> {
    const latest = await this.#deps.store.read.imports.find(of.workspace_id, of.id)
    if (latest?.fence !== of.fence) throw new ImportTakenOver()
    return latest
  }

  /** @param lost aborted when another process has the lease, or the import was cancelled */
  #renew({ id, fence }: Import, lost: AbortController): void {
    const { store, clock } = this.#deps
    const lease_until = clock.nowMicros() + LEASE_MICROS
    store
      .write(({ imports }) => imports.update(id, fence, { lease_until }))
      .then((isRenewed) => {
        if (!isRenewed) lost.abort(new ImportTakenOver())
      })
      // The next batch finds out that the database is down.
      .catch(() => {})
  }

  /** Waits while the database is down or full, for as long as that lasts. */
  #patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#retry(signal, isUnavailable, work, Number.POSITIVE_INFINITY)
  }

  /**
   * @param isRetryable whether to try again after an error
   * @param work calls its parameter whenever it has got on, so that the attempts begin again
   */
  async #retry<T>(
    signal: AbortSignal,
    isRetryable: (error: unknown) => boolean,
    work: (onProgress: () => void) => Promise<T>,
    attemptsMax = ATTEMPTS_MAX,
  ): Promise<T> {
    let attempt = 0
    for (;;) {
      try {
        return await work(() => {
          attempt = 0
        })
      } catch (error) {
        signal.throwIfAborted()
        attempt += 1
        if (!isRetryable(error) || attempt >= attemptsMax) throw error
        const delayMs = backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS, (1 + Math.random()) / 2)
        this.#deps.onRetry(error as Error, delayMs)
        await sleep(delayMs, undefined, { signal })
      }
    }
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof ImportSourceFault && error.isTransient
}

/** Returns the records of a batch that are not written, now that the import is as `latest`. */
function behind(
  batch: readonly ImportRecord[],
  before: Import,
  latest: Import,
): readonly ImportRecord[] {
  if (latest.resume === before.resume) return batch
  return batch.slice(batch.findLastIndex(({ resume }) => resume === latest.resume) + 1)
}

function weightOf(record: ImportRecord): number {
  if (record.kind === 'imported link') return LINK_WEIGHT
  if (record.kind === 'rule set' || record.kind === 'domain settings') return SETTINGS_WEIGHT
  if (record.kind !== 'link') return 1
  return record.protection.kind === 'password' ? PASSWORD_WEIGHT : LINK_WEIGHT
}
