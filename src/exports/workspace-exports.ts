import { Readable } from 'node:stream'
import { EXPORT_VERSION, type ExportFormat, type ExportHead } from '@terse/contract/export'
import { dayOf } from '../clicks/index.ts'
import type { Actor, Workspaces } from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import type { Cursors } from '../platform/http/api/cursor.ts'
import { VERSION } from '../platform/process/version.ts'
import { type Clock, formatInstant } from '../platform/time/clock.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import { csvZipExport } from './csv-zip-export.ts'
import { ndjsonExport, type Progress } from './ndjson-export.ts'
import { type ExportedStores, type Position, SECTIONS, type Subject } from './read-workspace.ts'

/** The limits for exports of whole workspaces: one runs for as long as its client reads. */
export const WORKSPACE_EXPORT_QUEUE: FairQueueOptions = {
  work: 'workspace exports',
  concurrency: 32,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 2,
  waitingMax: 256,
  deadlineMs: 5_000,
}

export type ExportRequest = {
  readonly format: ExportFormat
  /** Whether single clicks are exported. */
  readonly clicks: boolean
  /** Where a broken export goes on; only with the format `ndjson`. */
  readonly cursor?: string | undefined
}

type BrokenExport = Progress & Pick<Subject, 'singlesFromDay'>
type CursorMark = Position & Pick<Subject, 'singlesFromDay'>

type Dependencies = {
  readonly store: Store<ExportedStores & { readonly events: EventWriter }>
  readonly clock: Clock
  readonly cursors: Cursors
  readonly workspaces: Pick<Workspaces, 'getById'>
  readonly serviceHost: string
  /** How long single clicks are kept; 0 for good. */
  readonly clickRetentionDays: number
  readonly baseUrl: string
  /** See `WORKSPACE_EXPORT_QUEUE`. */
  readonly exports: FairQueue
}

/** Exports everything that a workspace has. */
export class WorkspaceExports {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Opens an export of the actor's workspace and writes the event about it. The stream reads as fast as its
   * reader, and fails when reading fails.
   *
   * @param onBatch called as long as the export reads, also while it finds nothing to send
   * @throws {Failure} `validation_failed` for a cursor of another export
   * @throws {QueueRefusal} when too many exports are waiting
   */
  async open(actor: Actor, request: ExportRequest, onBatch: () => void): Promise<Readable> {
    const { exports } = this.#deps
    const from = this.#progressOf(actor, request)
    const release = await exports.acquire(actor.workspaceId)
    try {
      const stream = await this.#stream(actor, request, { from, onBatch })
      stream.once('close', release)
      stream.once('end', () => this.#noteCompleted(actor, request))
      return stream
    } catch (error) {
      release()
      throw error
    }
  }

  /** What was sent is complete, also where its event cannot be written. */
  #noteCompleted(actor: Actor, { format, clicks }: ExportRequest): void {
    const { store, clock } = this.#deps
    const subject = { subjectId: actor.workspaceId, before: null, after: { format, clicks } }
    const event = { type: 'workspace.export_completed', ...subject } as const
    store.write(({ events }) => events.append(actor, event, clock.nowMicros())).catch(() => {})
  }

  async #stream(
    actor: Actor,
    { format, clicks }: ExportRequest,
    { from, onBatch }: { from: BrokenExport | undefined; onBatch: () => void },
  ): Promise<Readable> {
    const { store, clock, cursors } = this.#deps
    const { workspaceId } = actor
    const now = clock.nowMicros()
    const head = await this.#head(workspaceId, clicks, now)
    if (from === undefined) {
      await store.write((stores) =>
        stores.events.append(
          actor,
          {
            type: 'workspace.exported',
            subjectId: workspaceId,
            before: null,
            after: { format, clicks },
          },
          now,
        ),
      )
    }
    // An export that goes on after midnight divides the days as it began.
    const singlesFromDay = from?.singlesFromDay ?? this.#singlesFromDay(clicks, now)
    const ruleSetNames = new Map<string, string | null>()
    const subject = { workspaceId, untilMicros: now, singlesFromDay, ruleSetNames }
    const sections = SECTIONS.filter((section) => clicks || section !== 'click')
    const on = { head, sections, onBatch }
    if (format === 'csv-zip') return csvZipExport(store.read, subject, on)
    const list = listName(workspaceId, clicks)
    const writeCursor = (progress: Progress) =>
      cursors.write(
        {
          mark: { ...progress.position, singlesFromDay },
          ...{ isReversed: false, index: progress.records, total: 0 },
        },
        list,
      )
    const lines = ndjsonExport(store.read, subject, { ...on, from, writeCursor })
    return Readable.from(lines, { objectMode: false })
  }

  /** Single clicks that are about to be dropped are added up like those before. */
  #singlesFromDay(clicks: boolean, nowMicros: number): number {
    if (!clicks) return Number.MAX_SAFE_INTEGER
    const { clickRetentionDays: days } = this.#deps
    return days === 0 ? 0 : Math.max(0, dayOf(nowMicros) - days)
  }

  async #head(workspaceId: string, clicks: boolean, nowMicros: number): Promise<ExportHead> {
    const { workspaces, serviceHost, baseUrl } = this.#deps
    const { name } = await workspaces.getById(workspaceId)
    return {
      type: 'export',
      version: EXPORT_VERSION,
      terse: VERSION,
      instance: baseUrl,
      service_host: serviceHost,
      workspace: name,
      clicks,
      exported_at: formatInstant(nowMicros),
    }
  }

  /** @throws {Failure} `validation_failed` */
  #progressOf({ workspaceId }: Actor, request: ExportRequest): BrokenExport | undefined {
    const { cursor, format, clicks } = request
    if (cursor === undefined) return undefined
    if (format !== 'ndjson') {
      throw Failure.invalid({
        cursor: [{ code: 'incompatible', reason: 'only', other: 'format=ndjson' }],
      })
    }
    const list = listName(workspaceId, clicks)
    const { mark, index } = this.#deps.cursors.read<CursorMark>(cursor, list)
    return mark && { position: mark, records: index, singlesFromDay: mark.singlesFromDay }
  }
}

/** Cursors of one export do not fit another. */
function listName(workspaceId: string, clicks: boolean): string {
  return JSON.stringify(['export', workspaceId, clicks])
}
