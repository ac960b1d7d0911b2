import { randomUUID } from 'node:crypto'
import {
  bucketOf,
  type ClickSpool,
  type ClickSpoolStore,
  type Countries,
  clickOfVisit,
  NO_INSTANT,
  OPENING_BUCKET,
  openingBalances,
  PEOPLE_TOTAL,
  SpoolEncoder,
  TOTALS_BUCKET,
} from '../../clicks/store/index.ts'
import type { Random } from '../../platform/crypto/random.ts'
import { type SipKey, sipKeyOf } from '../../platform/crypto/siphash.ts'
import type { Store } from '../../platform/database/store.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { yieldToEventLoop } from '../../platform/work/yield-to-event-loop.ts'
import type {
  ClickImport,
  FinishedClicks,
  ImportedClick,
  ImportedClicks,
  PreparedClicks,
} from '../imported-clicks.ts'

const VISITOR_KEY_BYTES = 16
/** Encoding so many clicks takes some milliseconds. */
const CLICKS_PER_TURN = 200
/** Opening balances of one transaction. */
const BALANCES_PER_WRITE = 4_000
/** Another service's clock may be ahead. */
const AHEAD_MICROS_MAX = 24 * 60 * 60 * 1_000_000

export type SpoolStores = { readonly clickSpools: ClickSpoolStore }

type Dependencies<Stores extends SpoolStores> = {
  readonly store: Store<Stores>
  readonly clock: Clock
  readonly random: Random
  readonly countries: () => Promise<Countries>
  /** Resolves when all of a complete spool is counted. Rejects with the signal's reason when that is aborted. */
  readonly count: (spoolId: string, signal: AbortSignal) => Promise<void>
}

/** Spools the clicks of imports in the database, from where the drain threads of the nodes count them. */
export class SpooledClicks<Stores extends SpoolStores> implements ImportedClicks<Stores> {
  readonly #deps: Dependencies<Stores>

  constructor(deps: Dependencies<Stores>) {
    this.#deps = deps
  }

  async prepare(of: ClickImport, clicks: readonly ImportedClick[]): Promise<PreparedClicks> {
    if (clicks.length === 0) return { refused: [], parts: [] }
    const reading = { key: await this.#visitorKeyOf(of), countries: await this.#deps.countries() }
    const latest = this.#deps.clock.nowMicros() + AHEAD_MICROS_MAX
    const encoder = new SpoolEncoder()
    const refused: ImportedClick[] = []
    for (const [nth, click] of clicks.entries()) {
      if (!encode(encoder, click, latest, reading)) refused.push(click)
      if (nth % CLICKS_PER_TURN === CLICKS_PER_TURN - 1) await yieldToEventLoop()
    }
    return { refused, parts: encoder.finish() }
  }

  async spool(stores: Stores, { importId }: ClickImport, { parts }: PreparedClicks): Promise<void> {
    await stores.clickSpools.add(importId, parts)
  }

  async finish({ importId }: ClickImport, signal: AbortSignal): Promise<FinishedClicks> {
    const { store, count } = this.#deps
    const spool = await store.read.clickSpools.find(importId)
    if (spool === undefined) return { opening: 0, openingLinks: 0 }
    if (spool.state === 'reading') await this.#seal(spool, signal)
    if (spool.state !== 'counted') await count(importId, signal)
    const sealed = await store.read.clickSpools.find(importId)
    return { opening: sealed?.opening ?? 0, openingLinks: sealed?.opening_links ?? 0 }
  }

  async discard({ importId }: ClickImport): Promise<void> {
    const { store } = this.#deps
    while (await store.write(({ clickSpools }) => clickSpools.remove(importId)));
  }

  /** Adds the opening balances, and declares the spool complete. Begins again after a kill in between. */
  async #seal({ id }: ClickSpool, signal: AbortSignal): Promise<void> {
    const { store } = this.#deps
    while (await store.write(({ clickSpools }) => clickSpools.clear(id, OPENING_BUCKET)));
    const encoder = new SpoolEncoder()
    let opening = 0
    let links = 0
    const addParts = async () => {
      const parts = encoder.finish()
      await store.write(({ clickSpools }) => clickSpools.add(id, parts))
    }
    const readAfter = store.read.clickSpools.readAfter
    for await (const balance of openingBalances((position) => readAfter(id, position))) {
      signal.throwIfAborted()
      encoder.addSum(OPENING_BUCKET, balance)
      opening += balance.count
      links += 1
      if (links % BALANCES_PER_WRITE === 0) await addParts()
    }
    await addParts()
    // A name of its own: if the database returns to an older state, what is spooled then is another journal.
    const sealed = { journal_id: randomUUID(), opening, opening_links: links }
    await store.write(({ clickSpools }) => clickSpools.seal(id, sealed))
  }

  async #visitorKeyOf({ importId, workspaceId }: ClickImport): Promise<SipKey> {
    const { store, clock, random } = this.#deps
    const found = await store.read.clickSpools.find(importId)
    const spool =
      found ??
      (await store.write(({ clickSpools }) =>
        clickSpools.open({
          id: importId,
          workspace_id: workspaceId,
          visitor_key: Buffer.from(random(VISITOR_KEY_BYTES)).toString('hex'),
          created_at: clock.nowMicros(),
        }),
      ))
    if (spool.visitor_key === null) throw new Error('the clicks of this import are complete')
    return sipKeyOf(Buffer.from(spool.visitor_key, 'hex'))
  }
}

/** Returns false for a click that cannot be taken. */
function encode(
  encoder: SpoolEncoder,
  imported: ImportedClick,
  latest: number,
  reading: { readonly key: SipKey; readonly countries: Countries },
): boolean {
  const { linkSeq } = imported
  const isInstant = (at: number) => Number.isSafeInteger(at) && at >= 0 && at <= latest
  if (imported.kind === 'click') {
    const { at } = imported.click
    if (!isInstant(at)) return false
    const click = clickOfVisit(linkSeq, imported.click, reading)
    if (!isCount(click.count)) return false
    if (click.count === 1) encoder.addClick(bucketOf(at), click)
    else encoder.addSum(bucketOf(at), click)
    return true
  }
  if (imported.kind === 'count') {
    const { at, count } = imported.count
    if (!isInstant(at) || !isCount(count)) return false
    encoder.addSum(bucketOf(at), { at, link_seq: linkSeq, count, flags: 0 })
    return true
  }
  const { clicks, lastClick } = imported
  if (clicks === 0) return true
  if (!isCount(clicks)) return false
  const at = lastClick !== null && isInstant(lastClick) ? lastClick : NO_INSTANT
  const flags = imported.of === 'people' ? PEOPLE_TOTAL : 0
  encoder.addSum(TOTALS_BUCKET, { at, link_seq: linkSeq, count: clicks, flags })
  return true
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1
}
