import {
  foldKey,
  type KeyHolder,
  type LookedBatch,
  type PreparedCreate,
  parseKey,
} from '../links/index.ts'
import { Failure } from '../platform/failure.ts'
import { type Import, type ImportedLink, reasonOf } from './import.ts'
import type { Candidate } from './import-candidate.ts'
import type { LinkRecord } from './import-source.ts'
import type { ImportStores } from './store/import-store.ts'
import type { SettledRecord, WorkspaceRecord } from './workspace-records.ts'

/** A link of a batch, checked and prepared as far as that goes without the database. */
export type BatchEntry =
  | { readonly kind: 'candidate'; readonly candidate: Candidate; readonly create: PreparedCreate }
  | { readonly kind: 'refused'; readonly record: LinkRecord; readonly reason: string }
  | {
      readonly kind: 'settled'
      readonly record: WorkspaceRecord
      readonly settled: SettledRecord
      /** What it takes, as `targetOf` of a link. */
      readonly target: string
    }

/** What is to be done with an entry. */
export type Planned =
  | { readonly do: 'create'; readonly key: string; readonly isRenamed: boolean }
  /** `isKnown`: this source's link was imported before. */
  | { readonly do: 'update'; readonly holder: KeyHolder; readonly isKnown: boolean }
  | {
      readonly do: 'skip'
      /** The link that is there instead: of one that this import has created, only the key is known. */
      readonly holder: KeyHolder | Pick<KeyHolder, 'key'> | undefined
      readonly reason: string
    }
  | { readonly do: 'refuse'; readonly reason: string }
  /** It is done, and only reported. */
  | { readonly do: 'report' }
  /** The import ends before this row. */
  | { readonly do: 'stop'; readonly reason: string }

/** How often a renamed key is counted up. */
const RENAMES_MAX = 1_000
const KEY_LENGTH_MAX = 190

type Look = {
  readonly batch: LookedBatch
  /** Links of this origin that were imported, by ref. */
  readonly known: ReadonlyMap<string, readonly ImportedLink[]>
  /** The links in `known`, by number. */
  readonly knownLinks: ReadonlyMap<number, KeyHolder>
  /** From where the holders of this batch's keys came, by number. */
  readonly holders: ReadonlyMap<number, ImportedLink>
  /** What earlier rows of the same dry run would take, and the refs of their links. */
  readonly targets: ReadonlySet<string>
  readonly tried: ReadonlySet<string>
}

/** Reads what decides about the entries of a batch, and decides. Writes nothing. */
export class BatchPlanner {
  readonly #stores: ImportStores
  readonly #of: Import
  readonly #look: Look
  /** What earlier entries of the batch take. */
  readonly #taken = new Set<string>()
  readonly #refs = new Set<string>()
  readonly #added = new Map<string, number>()

  private constructor(stores: ImportStores, of: Import, look: Look) {
    this.#stores = stores
    this.#of = of
    this.#look = look
  }

  static async look(
    stores: ImportStores,
    of: Import,
    batch: LookedBatch,
    entries: readonly BatchEntry[],
  ): Promise<BatchPlanner> {
    const candidates = entries.flatMap((entry) =>
      entry.kind === 'candidate' ? [entry.candidate] : [],
    )
    const { workspace_id: workspaceId, id, origin, is_dry_run: isDryRun } = of
    const refs = candidates.map(({ record }) => record.ref)
    const imported = await stores.importRows.findByRef(workspaceId, origin ?? '', refs)
    const seqs = imported.map(({ link_seq }) => link_seq)
    const links = await stores.linkBatches.findBySeqs(workspaceId, seqs)
    const holderSeqs = candidates.flatMap(
      ({ host, input }) => batch.holderOf(host, input.key)?.seq ?? [],
    )
    const holders = await stores.importRows.findByLink(workspaceId, holderSeqs)
    const targets = candidates.map(({ host, input }) => targetOf(host, input.key))
    return new BatchPlanner(stores, of, {
      batch,
      known: Map.groupBy(imported, ({ ref }) => ref),
      knownLinks: new Map(links.map((link) => [link.seq, link])),
      holders: new Map(holders.map((from) => [from.link_seq, from])),
      targets: isDryRun === 1 ? await stores.importRows.findTargets(id, targets) : new Set(),
      tried: isDryRun === 1 ? await stores.importRows.findDryRun(id, refs) : new Set(),
    })
  }

  async plan(entry: BatchEntry): Promise<Planned> {
    if (entry.kind === 'settled') return { do: 'report' }
    if (entry.kind === 'refused') return { do: 'refuse', reason: entry.reason }
    const { candidate, create } = entry
    const { host, input, record } = candidate
    // First what was done before: it is done once, whatever has changed since.
    const planned = this.#done(candidate) ?? this.#refuse(create) ?? (await this.#decide(candidate))
    this.#refs.add(record.ref)
    if (planned.do === 'update') this.#taken.add(targetOf(host, input.key))
    if (planned.do === 'create') {
      this.#taken.add(targetOf(host, planned.key))
      const folded = targetOf(host, foldKey(planned.key))
      this.#added.set(folded, (this.#added.get(folded) ?? 0) + 1)
    }
    return { ...planned, ...(planned.do === 'create' && { isRenamed: planned.key !== input.key }) }
  }

  #done(candidate: Candidate): Planned | undefined {
    const { ref } = candidate.record
    const { known, tried } = this.#look
    const isOfThis = ({ import_id }: ImportedLink) => import_id === this.#of.id
    if (this.#refs.has(ref) || tried.has(ref) || known.get(ref)?.some(isOfThis)) {
      return { do: 'skip', holder: undefined, reason: 'The source gave this link before.' }
    }
    const found = this.#findKnown(candidate)
    return found && this.#again(found)
  }

  #refuse(create: PreparedCreate): Planned | undefined {
    try {
      this.#look.batch.require(create)
      return undefined
    } catch (error) {
      if (error instanceof Failure && error.code === 'validation_failed') {
        return { do: 'refuse', reason: reasonOf(error) }
      }
      throw error
    }
  }

  async #decide(candidate: Candidate): Promise<Planned> {
    const { batch } = this.#look
    const { host, input } = candidate
    const holder = batch.holderOf(host, input.key)
    const takenBy = this.#takenBy(candidate, holder)
    if (takenBy !== undefined) return this.#conflict(candidate, holder, takenBy)
    if (
      batch.isCrowded(host, input.key, this.#added.get(targetOf(host, foldKey(input.key))) ?? 0)
    ) {
      return {
        do: 'refuse',
        reason: 'Too many keys of the domain differ from this one only by letter case.',
      }
    }
    return { do: 'create', key: input.key, isRenamed: false }
  }

  #findKnown({ host, record }: Candidate) {
    const keyspaceId = this.#look.batch.allowed.get(host)?.keyspaceId
    const link = this.#look.known.get(record.ref)?.find((each) => each.keyspace_id === keyspaceId)
    const holder = link && this.#look.knownLinks.get(link.link_seq)
    return holder
  }

  #again(holder: KeyHolder): Planned {
    return this.#of.options.onConflict === 'update'
      ? { do: 'update', holder, isKnown: true }
      : { do: 'skip', holder, reason: 'It was imported before.' }
  }

  /** Returns whether an earlier row of the import has the key, or a link that was there before it. */
  #takenBy({ host, input }: Candidate, holder: KeyHolder | undefined): 'row' | 'link' | undefined {
    const target = targetOf(host, input.key)
    if (this.#taken.has(target) || this.#look.targets.has(target)) return 'row'
    if (holder === undefined) return undefined
    return this.#look.holders.get(holder.seq)?.import_id === this.#of.id ? 'row' : 'link'
  }

  async #conflict(
    candidate: Candidate,
    holder: KeyHolder | undefined,
    takenBy: 'row' | 'link',
  ): Promise<Planned> {
    const { key } = candidate.input
    const own = holder?.workspace_id === this.#of.workspace_id ? holder : undefined
    const shown = takenBy === 'row' ? { key } : own
    const reason =
      takenBy === 'link'
        ? `The key ${key} is taken on ${candidate.host}.`
        : `The source has the key ${key} several times: it went to the first.`
    switch (this.#of.options.onConflict) {
      case 'fail':
        return { do: 'stop', reason: `${candidate.record.place}: ${reason}` }
      case 'rename':
        return this.#rename(candidate)
      case 'update':
        // The source serves the first of several rows with one key.
        if (takenBy === 'link' && own !== undefined)
          return { do: 'update', holder: own, isKnown: false }
        return { do: 'skip', holder: shown, reason }
      case 'skip':
        return { do: 'skip', holder: shown, reason }
    }
  }

  async #rename({ host, input }: Candidate): Promise<Planned> {
    for (let number = 2; number <= RENAMES_MAX; number += 1) {
      const suffix = `-${number}`
      const key = [...input.key].slice(0, KEY_LENGTH_MAX - suffix.length).join('') + suffix
      if ('fault' in parseKey(key)) break
      if (await this.#isFree(host, key)) return { do: 'create', key, isRenamed: true }
    }
    return {
      do: 'refuse',
      reason: `The key ${input.key} is taken, and so is each with a number behind it.`,
    }
  }

  async #isFree(host: string, key: string): Promise<boolean> {
    const target = targetOf(host, key)
    if (this.#taken.has(target)) return false
    const { importRows, linkBatches } = this.#stores
    if (this.#of.is_dry_run === 1) {
      if ((await importRows.findTargets(this.#of.id, [target])).has(target)) return false
    }
    const keyspaceId = this.#look.batch.allowed.get(host)?.keyspaceId
    if (keyspaceId === undefined) return true
    const holders = await linkBatches.findHolders(keyspaceId, [key])
    return holders.length === 0
  }
}

/** What a link takes: exactly this key on this host. */
export function targetOf(host: string, key: string): string {
  return `${host}/${key}`
}
