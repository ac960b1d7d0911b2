import { randomUUID } from 'node:crypto'
import {
  bucketOf,
  CLICK_FLAGS,
  type ClickSpool,
  type ClickSpoolStore,
  clickOfVisit,
  NO_INSTANT,
  OPENING_BUCKET,
  openingBalances,
  PEOPLE_TOTAL,
  type Places,
  SpoolEncoder,
  TOTALS_BUCKET,
} from '../clicks/store/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import { type SipKey, sipKeyOf } from '../platform/crypto/siphash.ts'
import type { Clock } from '../platform/time/clock.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import type { Store } from '../storage/store.ts'
import type { ClickCountRecord } from './import-source.ts'
import type {
  ClickImport,
  FinishedClicks,
  ImportedClick,
  ImportedClicks,
  PreparedClicks,
} from './imported-clicks.ts'

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
  readonly places: () => Promise<Places>
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
    const reading = { key: await this.#visitorKeyOf(of), places: await this.#deps.places() }
    const encoder = new SpoolEncoder()
    const refused = this.refusedAmong(clicks)
    const isRefused = new Set(refused)
    for (const [nth, click] of clicks.entries()) {
      if (!isRefused.has(click)) encode(encoder, click, this.#latest(), reading)
      if (nth % CLICKS_PER_TURN === CLICKS_PER_TURN - 1) await yieldToEventLoop()
    }
    return { refused, parts: encoder.finish() }
  }

  refusedAmong(clicks: readonly ImportedClick[]): readonly ImportedClick[] {
    const latest = this.#latest()
    return clicks.filter((click) => !isPossible(click, latest))
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

  #latest(): number {
    return this.#deps.clock.nowMicros() + AHEAD_MICROS_MAX
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

/** Whether a click can have happened when it says. */
function isPossible(imported: ImportedClick, latest: number): boolean {
  switch (imported.kind) {
    case 'click':
      return isInstant(imported.click.at, latest) && isCount(imported.click.stored?.count ?? 1)
    case 'count':
      return isInstant(imported.count.at, latest) && isCountOfBoth(imported.count)
    case 'total':
      return imported.clicks === 0 || isCount(imported.clicks)
  }
}

function encode(
  encoder: SpoolEncoder,
  imported: ImportedClick,
  latest: number,
  reading: { readonly key: SipKey; readonly places: Places },
): void {
  const { linkSeq } = imported
  if (imported.kind === 'click') {
    const { at } = imported.click
    const click = clickOfVisit(linkSeq, imported.click, reading)
    if (click.count === 1) encoder.addClick(bucketOf(at), click)
    else encoder.addSum(bucketOf(at), click)
  } else if (imported.kind === 'count') {
    const { at, count, bots = 0 } = imported.count
    const sum = { at, link_seq: linkSeq }
    if (count > 0) encoder.addSum(bucketOf(at), { ...sum, count, flags: 0 })
    if (bots > 0) encoder.addSum(bucketOf(at), { ...sum, count: bots, flags: CLICK_FLAGS.bot })
  } else if (imported.clicks > 0) {
    const { clicks, lastClick } = imported
    const at = lastClick !== null && isInstant(lastClick, latest) ? lastClick : NO_INSTANT
    const flags = imported.of === 'people' ? PEOPLE_TOTAL : 0
    encoder.addSum(TOTALS_BUCKET, { at, link_seq: linkSeq, count: clicks, flags })
  }
}

function isInstant(at: number, latest: number): boolean {
  return Number.isSafeInteger(at) && at >= 0 && at <= latest
}

function isCountOfBoth({ count, bots = 0 }: ClickCountRecord): boolean {
  return [count, bots].every((each) => each === 0 || isCount(each)) && count + bots > 0
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1
}
