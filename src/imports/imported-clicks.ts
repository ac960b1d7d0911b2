import type { ClickCountRecord, ClickRecord } from './import-record.ts'

/** What a source knows of the clicks of one link. */
export type ImportedClick = {
  /** The number of the link in Terse. */
  readonly linkSeq: number
} & (
  | { readonly kind: 'click'; readonly click: ClickRecord }
  | { readonly kind: 'count'; readonly count: ClickCountRecord }
  /** The source's total, which comes once for a link, before its clicks and counts. */
  | {
      readonly kind: 'total'
      readonly clicks: number
      /** `people` when bots are not counted; undefined when they are. */
      readonly of?: 'people' | undefined
      readonly lastClick: number | null
    }
)

/** The import that the clicks belong to. */
export type ClickImport = { readonly importId: string; readonly workspaceId: string }

/** Clicks as they are spooled. */
export type PreparedClicks = {
  /** Clicks with an impossible instant. They are not spooled, but are part of the link's total. */
  readonly refused: readonly ImportedClick[]
  readonly parts: readonly {
    readonly bucket: number
    /** The number of records. */
    readonly clicks: number
    readonly data: Uint8Array
  }[]
}

/** What became of the clicks of an import. */
export type FinishedClicks = {
  /** The sum of the opening balances: what the totals have more than the clicks and counts. */
  readonly opening: number
  /** The links that have one. */
  readonly openingLinks: number
}

/**
 * Takes the clicks of imports to the counters. The importer calls `spool` in the transaction that also stores its
 * links and its cursor, so each record is spooled exactly once, wherever the importer is killed. Clicks stay in the
 * spool, sorted by their days, until the import has read everything: years of clicks are counted quickly only day by
 * day. From there each reaches the counters exactly once, wherever `finish` is killed.
 *
 * The importer passes clicks only of links that this import took: a link that an earlier import of the same source
 * took, or that was there before, gets no clicks a second time.
 */
export type ImportedClicks<Stores> = {
  /** Reads and encodes clicks, which takes some 20 µs each. Called before the transaction of `spool`. */
  prepare(of: ClickImport, clicks: readonly ImportedClick[]): Promise<PreparedClicks>
  /** Returns what `prepare` would refuse. */
  refusedAmong(clicks: readonly ImportedClick[]): readonly ImportedClick[]
  /** Stores prepared clicks: a few inserts. It may run again, with its transaction. */
  spool(stores: Stores, of: ClickImport, clicks: PreparedClicks): Promise<void>
  /**
   * Gives each link the part of its total that is in no click and no count as its opening balance, and resolves when
   * everything is counted, which takes some seconds for each 100,000 clicks. Called after the last record, and also
   * for an import that was cancelled; called again when it was killed or failed before it returned, and then gives
   * the same result. Of an import that is never finished, no click is counted.
   *
   * @throws the signal's reason when it is aborted; the clicks are counted nevertheless, while a node runs
   */
  finish(of: ClickImport, signal: AbortSignal): Promise<FinishedClicks>
  /** Removes what is spooled and was not counted, of an import that will never be finished. */
  discard(of: ClickImport): Promise<void>
}
