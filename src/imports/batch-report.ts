import { type BatchUpdate, type KeyHolder, shortLink, type UncountedLink } from '../links/index.ts'
import { type BatchEntry, type Planned, targetOf } from './batch-plan.ts'
import type { Import, ImportCounts, ImportedLink, ReportRow } from './import.ts'
import type { Candidate } from './import-candidate.ts'
import type {
  ImportedLinkRecord,
  ImportRecord,
  LinkRecord,
  RefusedRecord,
} from './import-source.ts'
import type { ImportStores } from './store/import-store.ts'
import type { WorkspaceRecord } from './workspace-records.ts'

const TEXT_LENGTH_MAX = 2_000

/** What the rows of records that are no links count as when they were created. */
const COUNT_OF = {
  domain: 'domains',
  'utm template': 'utm_templates',
  'rule set': 'rule_sets',
  'domain settings': 'settings',
  labels: 'settings',
  'conversion settings': 'settings',
} as const satisfies Record<WorkspaceRecord['kind'], keyof ImportCounts>

/** A record of a batch. */
export type Item = {
  readonly record: ImportRecord
  /** Undefined for what is no link. */
  readonly entry: BatchEntry | undefined
  /** Whether an earlier process has written it, and only its clicks are missing. */
  readonly isWritten: boolean
}

type Bound = {
  readonly candidate: Candidate
  /** Undefined for one that a dry run would create. */
  readonly link: UncountedLink | undefined
  readonly isNew: boolean
}

/** Collects what becomes of the rows of one batch. */
export class BatchReport {
  readonly nowMicros: number
  readonly rows: ReportRow[] = []
  readonly #of: Import
  readonly #counts: Record<keyof ImportCounts, number>
  /** Links whose clicks this import takes, by ref. */
  readonly #bound = new Map<string, Bound>()

  constructor(of: Import, nowMicros: number) {
    this.#of = of
    this.#counts = { ...of.counts }
    this.nowMicros = nowMicros
  }

  created(candidate: Candidate, link: UncountedLink, isRenamed: boolean): void {
    this.#bound.set(candidate.record.ref, { candidate, link, isNew: true })
    this.#linked(candidate, link, isRenamed)
  }

  /** @param isKnown whether an earlier import took the link, and with it the clicks */
  updated(candidate: Candidate, update: BatchUpdate, isKnown: boolean): void {
    const { link, isChanged, isProtected } = update
    const isDryRun = this.#of.is_dry_run === 1
    if (!isKnown) this.#bound.set(candidate.record.ref, { candidate, link, isNew: false })
    // A link that has a password keeps it.
    const isLocked = candidate.isLocked && isProtected
    const { notes, lockNotes, isClosed } = candidate
    this.#add(candidate.record, {
      ...(isChanged
        ? {
            outcome: 'updated',
            is_locked: Number(isLocked),
            is_closed: Number(isClosed),
            reason: [...(isLocked ? lockNotes : []), ...notes].join(' '),
          }
        : { outcome: 'skipped', reason: 'The link has the same values already.' }),
      ...shown(candidate.host, link),
      ...(isDryRun && { target: targetOf(candidate.host, candidate.input.key) }),
    })
  }

  /** A link that is not written. */
  left(entry: BatchEntry, planned: Planned): void {
    if (entry.kind === 'settled') {
      this.#settled(entry)
      return
    }
    const record = entry.kind === 'refused' ? entry.record : entry.candidate.record
    if (planned.do === 'refuse') this.#add(record, { outcome: 'refused', reason: planned.reason })
    if (planned.do !== 'skip') return
    const { holder, reason } = planned
    const host = entry.kind === 'candidate' ? entry.candidate.host : ''
    this.#add(record, { outcome: 'skipped', reason, ...(holder && shown(host, holder)) })
  }

  refused({ place, reason, row }: RefusedRecord): void {
    this.#push({ place, old_link: '', outcome: 'refused', reason, source_row: row })
  }

  /** A link that was imported before. */
  revived(
    { place, link }: ImportedLinkRecord,
    row: Pick<ReportRow, 'reason'> & { readonly outcome: 'updated' | 'skipped' | 'refused' },
  ): void {
    this.#push({
      place,
      old_link: `${link.domain}/${link.key}`,
      ...row,
      ...shown(link.domain, link),
    })
  }

  /** A link that would be created. */
  creatable(candidate: Candidate, key: string, isRenamed: boolean): void {
    this.#bound.set(candidate.record.ref, { candidate, link: undefined, isNew: true })
    this.#linked(candidate, { id: null, key }, isRenamed)
  }

  /** Notes from where the links came that no import took before; in a dry run which these would be. */
  async bind({ importRows }: ImportStores): Promise<void> {
    const { workspace_id: workspaceId, id, origin } = this.#of
    const updated = [...this.#bound.values()].filter(({ isNew }) => !isNew)
    const seqs = updated.flatMap(({ link }) => link?.seq ?? [])
    const others = await importRows.findByLink(workspaceId, seqs)
    const elsewhere = new Set(others.map(({ link_seq }) => link_seq))
    for (const [ref, { link }] of this.#bound) {
      if (link !== undefined && elsewhere.has(link.seq)) this.#bound.delete(ref)
    }
    if (this.#of.is_dry_run === 1) {
      const noted = [...this.#bound.keys()].map((ref) => ({ import_id: id, ref, clicks: 0 }))
      await importRows.noteDryRun(noted)
      return
    }
    const origins: ImportedLink[] = []
    for (const [ref, { candidate, link }] of this.#bound) {
      if (link === undefined) continue
      origins.push({
        workspace_id: workspaceId,
        link_seq: link.seq,
        import_id: id,
        origin: origin ?? '',
        keyspace_id: link.keyspace_id,
        ref,
        rest: Object.keys(candidate.rest).length === 0 ? null : JSON.stringify(candidate.rest),
      })
    }
    await importRows.link(origins)
  }

  /** The refs of links whose clicks this import takes. */
  get boundRefs(): Iterable<string> {
    return this.#bound.keys()
  }

  /** Returns what has changed of the import. */
  changes(): Pick<Import, 'rows_done' | 'counts'> {
    return { rows_done: this.#of.rows_done + this.rows.length, counts: this.#counts }
  }

  #settled({ record, settled, target }: Extract<BatchEntry, { kind: 'settled' }>): void {
    const { kind, place } = record
    const old_link = 'domain' in record ? record.domain : 'name' in record ? record.name : ''
    const isNoted = this.#of.is_dry_run === 1 && settled.outcome === 'created'
    const row = { place, old_link, ...settled, ...(isNoted && { target }) }
    this.#push(row, COUNT_OF[kind])
  }

  #linked(
    candidate: Candidate,
    link: { readonly id: string | null; readonly key: string },
    isRenamed: boolean,
  ): void {
    const { host, input, notes, lockNotes, record, isLocked, isClosed } = candidate
    const renamed = isRenamed ? [`The key ${input.key} is taken: the link has ${link.key}.`] : []
    this.#add(record, {
      outcome: isRenamed ? 'renamed' : 'created',
      is_locked: Number(isLocked),
      is_closed: Number(isClosed),
      link_id: link.id,
      link: shortLink({ domain: host, key: link.key }),
      reason: [...renamed, ...lockNotes, ...notes].join(' '),
      ...(this.#of.is_dry_run === 1 && { target: targetOf(host, link.key) }),
    })
  }

  #add(record: LinkRecord, row: RowPart): void {
    const old = `${record.domain ?? ''}/${record.key}`
    this.#push({ place: record.place, old_link: old, ...row })
  }

  /** @param counted what the row counts as when it was created */
  #push(
    row: RowPart & Pick<ReportRow, 'place' | 'old_link'>,
    counted: 'created' | (typeof COUNT_OF)[WorkspaceRecord['kind']] = 'created',
  ): void {
    const { is_locked = 0, is_closed = 0, outcome } = row
    this.#counts[outcome === 'created' ? counted : outcome] += 1
    this.#counts.locked += is_locked
    this.#counts.closed += is_closed
    this.rows.push({
      import_id: this.#of.id,
      number: this.#of.rows_done + this.rows.length + 1,
      link_id: null,
      link: null,
      source_row: null,
      target: null,
      ...row,
      is_locked,
      is_closed,
      place: storable(row.place),
      old_link: storable(row.old_link),
      reason: storable(row.reason),
      ...(row.source_row && { source_row: storable(row.source_row) }),
    })
  }
}

type RowPart = Pick<ReportRow, 'outcome' | 'reason'> &
  Partial<Pick<ReportRow, 'is_locked' | 'is_closed' | 'link_id' | 'link' | 'source_row' | 'target'>>

function shown(domain: string, { id, key }: Partial<KeyHolder> & Pick<KeyHolder, 'key'>) {
  return { link_id: id ?? null, link: shortLink({ domain, key }) }
}

/** PostgreSQL stores no NUL, and a report needs no more of a long text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}').slice(0, TEXT_LENGTH_MAX).toWellFormed()
}
