import type { ClickCountRecord, ClickRecord } from './import-record.ts'

/** What a source knows of the clicks of one link. */
export type ImportedClick = {
  /** The number of the link in Terse. */
  readonly linkSeq: number
} & (
  | { readonly kind: 'click'; readonly click: ClickRecord }
  | { readonly kind: 'count'; readonly count: ClickCountRecord }
  /** The source's total, which comes once for a link, before its clicks and counts. */
  | { readonly kind: 'total'; readonly clicks: number; readonly lastClick: number | null }
)

/** The import that the clicks belong to. */
export type ClickImport = { readonly importId: string; readonly workspaceId: string }

/** The stores of a transaction that this part needs. */
export type ImportedClickStores = object

/**
 * Takes the clicks of imports to the counters. The importer calls `spool` in the transaction that also stores its
 * links and its cursor, so each record is spooled exactly once, wherever the importer is killed. From there each
 * must reach the counters exactly once, wherever `settle` is killed.
 *
 * The importer passes clicks only of links that this import took: a link that an earlier import of the same source
 * took, or that was there before, gets no clicks a second time.
 */
export type ImportedClicks<Stores extends ImportedClickStores = ImportedClickStores> = {
  /**
   * Stores clicks in the order of the source. Part of a short transaction that other writers wait for: no more than
   * an insert of many rows. If the transaction is rolled back or run again, nothing of the first run may remain.
   */
  spool(stores: Stores, of: ClickImport, clicks: readonly ImportedClick[]): Promise<void>
  /**
   * Moves what is spooled into the counters, in short transactions of its own. The importer calls it between
   * batches, so that the spool stays small, and not at the same time as `spool`. It may do a part of the work, and
   * return; what it leaves is there for the next call, in this process or another.
   */
  settle(of: ClickImport, signal: AbortSignal): Promise<void>
  /**
   * Settles everything that is left, and gives each link the part of its total that is in no click and no count as
   * its opening balance. Called after the last record; called again when it was killed or failed before it returned.
   */
  finish(of: ClickImport, signal: AbortSignal): Promise<void>
}
