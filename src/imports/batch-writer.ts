import type { ConversionImports } from '../conversions/index.ts'
import type { Domain, Domains } from '../domains/index.ts'
import type { Actor } from '../identity/index.ts'
import type { LinkBatches, LookedBatch, PreparedUpdate } from '../links/index.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import { type BatchEntry, BatchPlanner, type Planned, targetOf } from './batch-plan.ts'
import { BatchReport, type Item } from './batch-report.ts'
import { requireImporter } from './end-import.ts'
import { type Import, ImportFault, ImportTakenOver, LEASE_MICROS, reasonOf } from './import.ts'
import { candidateOf } from './import-candidate.ts'
import type { ImportRecord, LinkRecord } from './import-source.ts'
import { ClicksOfBatch, type ImportedClicks } from './imported-clicks.ts'
import { ConversionsOfBatch } from './imported-conversions.ts'
import type { ImportStores } from './store/import-store.ts'
import {
  isWorkspaceRecord,
  noRuleSet,
  ruleSetTarget,
  targetOfRecord,
  type WorkspaceRecord,
  type WorkspaceServices,
  writeWorkspaceRecord,
} from './workspace-records.ts'

/** Each takes a row of the report: a file of a tenant must not fill the database with those. */
const REFUSED_MAX = 100_000

export type BatchDependencies = WorkspaceServices & {
  readonly store: Store<ImportStores>
  readonly clock: Clock
  readonly batches: LinkBatches
  readonly domains: WorkspaceServices['domains'] & Pick<Domains, 'prove'>
  readonly clicks: ImportedClicks<ImportStores>
  readonly conversions: ConversionImports
}

/** An import while it runs. */
export type ImportRun = {
  /** As the last transaction of this process left it. */
  readonly import: Import
  readonly hostOf: (domain: string | null) => string
}

/** With the one who started it, as they were when the batch was begun. */
type JudgedRun = ImportRun & { readonly actor: Actor }

/** What the earlier records of a batch add and refer to. */
type Earlier = {
  /** The targets of what they add besides links. */
  readonly tried: Set<string>
  /** The ids of the rule sets that their links use, by name; undefined for one that is missing. */
  readonly ruleSets: Map<string, string | undefined>
}

type Written = {
  readonly import: Import
  readonly claimed: readonly Domain[]
  readonly clicks: ClicksOfBatch
  readonly conversions: ConversionsOfBatch
  /** The position of the last record. */
  readonly resume: string | null
  /** Why the import ends here. */
  readonly stopped: string | undefined
}

/** Writes records of a source: links, report and cursor of a batch in one transaction. */
export class BatchWriter {
  readonly #deps: BatchDependencies

  constructor(deps: BatchDependencies) {
    this.#deps = deps
  }

  /**
   * Returns the import as it is after the batch.
   *
   * @throws {ImportFault} when the import cannot go on; what came before in the batch is written
   * @throws {ImportTakenOver} when another process runs it, or it was cancelled
   */
  async write(of: ImportRun, records: readonly ImportRecord[]): Promise<Import> {
    const actor = await this.#judge(this.#deps.store.read, of.import, false)
    const run = { ...of, actor }
    const { items, fault } = await this.#prepare(run, records)
    const written = items.length === 0 ? run.import : await this.#writeOrSplit(run, items)
    if (fault !== undefined) throw fault
    if (written.counts.refused > REFUSED_MAX) {
      throw new ImportFault(
        `More than ${REFUSED_MAX} rows were refused. Either the source is damaged, or it is of another kind.`,
      )
    }
    return written
  }

  /** Returns the one who started the import, as they are now. */
  #judge(stores: ImportStores, of: Import, isUse: boolean): Promise<Actor> {
    return requireImporter(stores, of, { nowMicros: this.#deps.clock.nowMicros(), isUse })
  }

  /** Prepares the records up to the first that makes the import end. */
  async #prepare(run: JudgedRun, records: readonly ImportRecord[]) {
    const items: Item[] = []
    const written = new Set(run.import.ahead)
    const earlier: Earlier = { tried: new Set(), ruleSets: new Map() }
    for (const record of records) {
      const name = nameOf(record)
      if (name !== undefined && written.has(name)) {
        items.push({ record, entry: undefined, isWritten: true })
        continue
      }
      try {
        const entry = await this.#entryOf(run, record, earlier)
        if (entry?.kind === 'settled' && entry.settled.outcome === 'created')
          earlier.tried.add(entry.target)
        items.push({ record, entry, isWritten: false })
      } catch (fault) {
        if (fault instanceof ImportFault) return { items, fault }
        throw fault
      }
    }
    return { items, fault: undefined }
  }

  async #entryOf(
    run: JudgedRun,
    record: ImportRecord,
    earlier: Earlier,
  ): Promise<BatchEntry | undefined> {
    const { batches, clock } = this.#deps
    if (isWorkspaceRecord(record)) return this.#settle(run, record, earlier)
    if (record.kind !== 'link') return undefined
    const candidate = candidateOf(await this.#withRuleSet(run, record, earlier), {
      hostOf: run.hostOf,
      faultsOf: (input) => batches.faultsOf(input),
      nowMicros: clock.nowMicros(),
    })
    if ('reason' in candidate) return { kind: 'refused', ...candidate }
    try {
      const { input, isLocked } = candidate
      const create = await batches.prepareCreate(run.actor, input, isLocked)
      // Keys are stored in a normal form: that is the one to look up, and to report.
      const key = create.key ?? input.key
      return {
        kind: 'candidate',
        candidate: { ...candidate, host: create.fields.domain, input: { ...input, key } },
        create,
      }
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'validation_failed') throw error
      return { kind: 'refused', record, reason: reasonOf(error) }
    }
  }

  async #settle(run: JudgedRun, record: WorkspaceRecord, earlier: Earlier): Promise<BatchEntry> {
    const host = 'domain' in record ? run.hostOf(record.domain) : ''
    const target = targetOfRecord(record, host)
    const settled = await writeWorkspaceRecord(this.#deps, run.actor, record, {
      host,
      isDryRun: run.import.is_dry_run === 1,
      isTried: (what) => this.#isTried(run, what, earlier),
      target,
    })
    return { kind: 'settled', record, settled, target }
  }

  /** Replaces the name of the link's rule set by the id that this workspace has for it. */
  async #withRuleSet(run: JudgedRun, record: LinkRecord, earlier: Earlier): Promise<LinkRecord> {
    const name = record.rule_set_name ?? null
    if (name === null) return record
    const { ruleSets } = earlier
    if (!ruleSets.has(name)) {
      ruleSets.set(name, (await this.#deps.ruleSets.findByName(run.actor, name))?.id)
    }
    const id = ruleSets.get(name)
    if (id !== undefined) return { ...record, options: { ...record.options, rule_set: id } }
    if (await this.#isTried(run, ruleSetTarget(name), earlier)) return record
    const rest = { ...record.rest, rule_set: name }
    return { ...record, rest, notes: [...record.notes, noRuleSet(name)] }
  }

  /** Whether an earlier row of the same dry run would add the target. */
  async #isTried({ import: of }: JudgedRun, target: string, { tried }: Earlier): Promise<boolean> {
    if (of.is_dry_run === 0) return false
    const { importRows } = this.#deps.store.read
    return tried.has(target) || (await importRows.findTargets(of.id, [target])).has(target)
  }

  /** Where the batch passes a quota, its links are taken up to the quota. */
  async #writeOrSplit(run: JudgedRun, items: readonly Item[]): Promise<Import> {
    try {
      return await this.#writeOnce(run, items)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'validation_failed') throw error
      if (items.length === 1) throw new ImportFault(reasonOf(error))
      const half = Math.ceil(items.length / 2)
      const first = await this.#writeOrSplit(run, items.slice(0, half))
      return this.#writeOrSplit({ ...run, import: first }, items.slice(half))
    }
  }

  async #writeOnce(run: JudgedRun, items: readonly Item[]): Promise<Import> {
    const prepared = new Map<number, { id: string; update: PreparedUpdate }>()
    for (;;) {
      try {
        const { store, domains } = this.#deps
        const written = await store.write((stores) =>
          this.#transaction(stores, run, items, prepared),
        )
        for (const domain of written.claimed) await domains.prove(domain)
        const next = await this.#writeLate(written)
        if (written.stopped !== undefined) throw new ImportFault(written.stopped)
        return next
      } catch (error) {
        if (!(error instanceof UpdatesNeeded)) throw error
        for (const [index, id] of error.missing) {
          prepared.set(index, { id, update: await this.#prepareUpdate(run, items, index, id) })
        }
      }
    }
  }

  /**
   * In a transaction of its own: what it stores is encoded before, with the numbers that the links have by then. If
   * the process is killed before, `ahead` says of which rows only the clicks and conversions are missing.
   *
   * @throws {ImportFault} where the conversions would pass the quota
   */
  async #writeLate({ import: of, clicks, conversions, resume }: Written): Promise<Import> {
    if (clicks.isEmpty && conversions.isEmpty) return of
    const { store, clock, clicks: port } = this.#deps
    const found = await clicks.resolve(store.read, of)
    const click = { importId: of.id, workspaceId: of.workspace_id }
    const isDryRun = of.is_dry_run === 1
    const prepared =
      isDryRun || found.clicks.length === 0 ? undefined : await port.prepare(click, found.clicks)
    const refused = isDryRun ? port.refusedAmong(found.clicks) : (prepared?.refused ?? [])
    const taken = await conversions.resolve(store.read, of)
    const limits = await this.#deps.conversions.limitsOf(of.workspace_id)
    const clicksCounted = found.count(of.counts, refused)
    return store.write(async (stores) => {
      await this.#judge(stores, of, true)
      if (isDryRun) await stores.importRows.noteDryRun(found.dryRun(refused))
      if (prepared !== undefined) await port.spool(stores, click, prepared)
      const added = isDryRun
        ? taken.length
        : await this.#deps.conversions.add(stores, limits, taken).catch(endAtQuota)
      const counts = conversions.count(clicksCounted, added)
      const leaseUntil = clock.nowMicros() + LEASE_MICROS
      return advance(stores, of, { resume, ahead: [], counts, lease_until: leaseUntil })
    })
  }

  /** Takes over what the source has; what it does not have stays as it is in Terse. */
  #prepareUpdate(
    { actor }: JudgedRun,
    items: readonly Item[],
    index: number,
    id: string,
  ): Promise<PreparedUpdate> {
    const entry = items[index]?.entry
    if (entry?.kind !== 'candidate') throw new Error('only a link can be updated')
    const { domain, key, tags, ...fields } = entry.candidate.input
    const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
    const input = { ...set, ...(tags?.length && { tags }) }
    const { isLocked } = entry.candidate
    return this.#deps.batches.prepareUpdate(actor, id, input, { isLocked })
  }

  async #transaction(
    stores: ImportStores,
    run: JudgedRun,
    items: readonly Item[],
    prepared: Prepared,
  ): Promise<Written> {
    const { batches, clock } = this.#deps
    const { import: of } = run
    const actor = await this.#judge(stores, of, true)
    const entries = items.flatMap(({ entry }) => entry ?? [])
    const creates = entries.flatMap((entry) => (entry.kind === 'candidate' ? [entry.create] : []))
    const added = await this.#triedHosts(stores, of, entries)
    const look = await batches.look(stores, actor, creates, added)
    const planner = await BatchPlanner.look(stores, of, look, entries)
    const { plan, stopped } = await planItems(planner, items, prepared)
    const done = items.slice(0, plan.length)
    const report = new BatchReport(of, clock.nowMicros())
    const claimed = await this.#apply(
      stores,
      { ...run, actor },
      { look, done, plan, prepared, report },
    )
    await stores.importRows.append(report.rows)
    const clicks = new ClicksOfBatch(done, new Set([...of.ahead, ...report.boundRefs]))
    const conversions = new ConversionsOfBatch(done)
    const isWhole = clicks.isEmpty && conversions.isEmpty
    const resume = done.at(-1)?.record.resume ?? of.resume
    const next = await advance(stores, of, {
      ...report.changes(),
      ...(isWhole ? { resume, ahead: [] } : { ahead: [...of.ahead, ...namesOf(done)] }),
      lease_until: clock.nowMicros() + LEASE_MICROS,
    })
    return { import: next, claimed, clicks, conversions, resume, stopped }
  }

  /** Returns the hosts of a dry run's links that its domains would have added before. */
  async #triedHosts(
    { importRows }: ImportStores,
    { id, is_dry_run: isDryRun }: Import,
    entries: readonly BatchEntry[],
  ): Promise<ReadonlySet<string>> {
    if (isDryRun === 0) return new Set()
    const hosts = new Set(
      entries.flatMap((entry) => (entry.kind === 'candidate' ? [entry.candidate.host] : [])),
    )
    const targets = [...hosts].map((host) => targetOf(host, ''))
    const tried = new Set(await importRows.findTargets(id, targets))
    for (const entry of entries) {
      if (entry.kind === 'settled' && entry.settled.outcome === 'created') tried.add(entry.target)
    }
    return new Set([...hosts].filter((host) => tried.has(targetOf(host, ''))))
  }

  async #apply(
    stores: ImportStores,
    { actor, import: of }: JudgedRun,
    at: {
      readonly look: LookedBatch
      readonly done: readonly Item[]
      readonly plan: readonly (Planned | undefined)[]
      readonly prepared: Prepared
      readonly report: BatchReport
    },
  ): Promise<readonly Domain[]> {
    const { batches } = this.#deps
    const { look, done, plan, prepared, report } = at
    const isDryRun = of.is_dry_run === 1
    const links = done.flatMap(({ entry }, index) => {
      const planned = plan[index]
      if (isDryRun || entry?.kind !== 'candidate' || planned?.do !== 'create') return []
      const { create, candidate } = entry
      return [{ create, key: planned.key, createdAt: candidate.createdAt ?? report.nowMicros }]
    })
    const written = await batches.write(stores, actor, look, links)
    const created = written.links.values()
    for (const [index, { record, entry, isWritten }] of done.entries()) {
      const planned = plan[index]
      if (record.kind === 'refused' && !isWritten) report.refused(record)
      if (entry === undefined || planned === undefined) continue
      if (planned.do === 'create' && entry.kind === 'candidate') {
        const { candidate } = entry
        const { key, isRenamed } = planned
        const link = created.next().value
        if (link !== undefined) report.created(candidate, link, isRenamed)
        else report.creatable(candidate, key, isRenamed)
      } else if (planned.do === 'update' && entry.kind === 'candidate') {
        const update = prepared.get(index)?.update
        if (update === undefined) throw new Error('an update was not prepared')
        const updated = isDryRun
          ? await batches.previewUpdate(stores, actor, update)
          : await batches.update(stores, actor, update)
        if (updated instanceof Failure)
          report.left(entry, { do: 'refuse', reason: reasonOf(updated) })
        else report.updated(entry.candidate, updated, planned.isKnown)
      } else {
        report.left(entry, planned)
      }
    }
    await report.bind(stores)
    return written.claimed
  }
}

/** Writes the progress, if this process still runs the import. */
export async function advance(
  stores: ImportStores,
  of: Import,
  changes: Partial<Import>,
): Promise<Import> {
  if (!(await stores.imports.update(of.id, of.fence, changes))) throw new ImportTakenOver()
  return { ...of, ...changes }
}

/** Names the rows of a batch, to know them when the source is read again. */
function namesOf(items: readonly Item[]): readonly string[] {
  return items.flatMap(({ record }) => nameOf(record) ?? [])
}

/** Whether a record is written with the cursor, after its link. */
function isLate(
  record: ImportRecord,
): record is Extract<ImportRecord, { kind: 'click' | 'count' | 'conversion' }> {
  return record.kind === 'click' || record.kind === 'count' || record.kind === 'conversion'
}

/** @throws {ImportFault} for a refusal, which ends the import */
function endAtQuota(error: unknown): never {
  const isRefusal = error instanceof Failure && error.code === 'validation_failed'
  throw isRefusal ? new ImportFault(reasonOf(error)) : error
}

function nameOf(record: ImportRecord): string | undefined {
  if (record.kind === 'link') return record.ref
  return isLate(record) ? undefined : record.place
}

/** The updates that a transaction needs, which must be prepared before it. */
class UpdatesNeeded extends Error {
  readonly missing: ReadonlyMap<number, string>

  constructor(missing: ReadonlyMap<number, string>) {
    super('updates must be prepared')
    this.missing = missing
  }
}

/** Updates that were prepared, by the index of their items. */
type Prepared = ReadonlyMap<number, { readonly id: string; readonly update: PreparedUpdate }>

/**
 * Returns what is to be done with the items, up to the one where the import ends.
 *
 * @throws {UpdatesNeeded}
 */
async function planItems(planner: BatchPlanner, items: readonly Item[], prepared: Prepared) {
  const plan: (Planned | undefined)[] = []
  const missing = new Map<number, string>()
  let stopped: string | undefined
  for (const [index, { entry }] of items.entries()) {
    const planned = entry && (await planner.plan(entry))
    if (planned?.do === 'stop') {
      stopped = planned.reason
      break
    }
    if (planned?.do === 'update' && prepared.get(index)?.id !== planned.holder.id) {
      missing.set(index, planned.holder.id)
    }
    plan.push(planned)
  }
  if (missing.size > 0) throw new UpdatesNeeded(missing)
  return { plan, stopped }
}
