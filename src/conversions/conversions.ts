import { createHmac } from 'node:crypto'
import { type ConversionInput, conversionInput } from '@terse/contract/conversions'
import type { PeriodInput } from '../clicks/index.ts'
import { type Actor, enforceQuotas, type QuotaBook, type QuotaStores } from '../identity/index.ts'
import { type Random, uuidV7 } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import type { Run } from '../platform/http/api/pagination.ts'
import { validate } from '../platform/http/api/validation.ts'
import { type Clock, formatInstant, parseInstant } from '../platform/time/clock.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import { ConversionReports, type ReportDependencies } from './report.ts'
import type {
  ConversionSettings,
  ConversionSettingsStore,
} from './store/conversion-settings-store.ts'
import type {
  Conversion,
  ConversionMark,
  ConversionStore,
  ConvertingLink,
  LinkedConversion,
} from './store/conversion-store.ts'
import type { VisitTokens } from './token.ts'

type ConversionStores = QuotaStores & {
  readonly conversions: ConversionStore
  readonly conversionSettings: ConversionSettingsStore
  readonly events: EventWriter
}

type Dependencies = Omit<ReportDependencies, 'store'> & {
  readonly store: Store<ConversionStores>
  readonly clock: Clock
  readonly random: Random
  readonly quotas: QuotaBook
  readonly tokens: Pick<VisitTokens, 'read'>
  /** 32 bytes for digests of idempotency keys. */
  readonly key: Buffer
}

/** What became of one report. */
export type Recorded =
  | { readonly status: 'recorded' | 'repeated'; readonly conversion: LinkedConversion }
  | { readonly status: 'failed'; readonly failure: Failure }

/** Reports of one transaction: few enough that visitors do not notice it. */
const CHUNK_REPORTS = 100
/** How far the clock of a server that reports may be ahead or behind. */
const CLOCK_DIFFERENCE_MICROS = 5 * 60 * 1_000_000
const DAY_MICROS = 24 * 60 * 60 * 1_000_000
const BATCH_ROWS = 1_000

const parseInput = validate({
  schema: conversionInput,
  method: 'POST',
  url: '/conversions',
  httpPart: 'body',
})

/** The operations on conversions. Each acts within the workspace of its actor. */
export class Conversions extends ConversionReports {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    super(deps)
    this.#deps = deps
  }

  /**
   * Records what the customer's server reports, and returns what became of each report, in their order: one that fails stops
   * no other. A report whose key was recorded before gets the conversion of that time.
   *
   * @param inputs each as in the contract; others fail
   * @param requestKey of the whole request, for those without a key of their own
   * @throws {Failure} `unavailable`; reports before it may be recorded
   */
  async record(
    actor: Actor,
    inputs: readonly unknown[],
    requestKey?: string,
  ): Promise<readonly Recorded[]> {
    const results: Recorded[] = []
    for (let first = 0; first < inputs.length; first += CHUNK_REPORTS) {
      if (first > 0) await yieldToEventLoop()
      const reports = inputs
        .slice(first, first + CHUNK_REPORTS)
        .map((input, nth) => this.#read(actor, input, requestKey && `${first + nth} ${requestKey}`))
      results.push(...(await this.#recordChunk(actor, reports)))
    }
    return results
  }

  /** Consecutive conversions, newest first. */
  async list(
    actor: Actor,
    query: ConversionQuery,
    { limit, beyond }: { readonly limit: number; readonly beyond: ConversionMark | undefined },
  ): Promise<Run<LinkedConversion, ConversionMark>> {
    const { filter } = await this.read(actor, query)
    return this.run(actor, () => this.#deps.store.read.conversions.run(filter, limit, beyond))
  }

  /** Reads all selected conversions, newest first; holds one batch in memory at a time. */
  async *export(actor: Actor, query: ConversionQuery): AsyncGenerator<readonly LinkedConversion[]> {
    const { filter } = await this.read(actor, query)
    let beyond: ConversionMark | undefined
    do {
      const from = beyond
      const { items, rest } = await this.run(actor, () =>
        this.#deps.store.read.conversions.run(filter, BATCH_ROWS, from),
      )
      yield items
      beyond = rest
    } while (beyond !== undefined)
  }

  async #recordChunk(actor: Actor, reports: readonly Report[]): Promise<readonly Recorded[]> {
    const { store, clock, quotas } = this.#deps
    const { workspaceId } = actor
    const limits = await quotas.limitsOf(workspaceId)
    return store.write(async (stores) => {
      // Two requests with one key wait for one another.
      await stores.quotas.lock(workspaceId)
      const now = clock.nowMicros()
      const read = reports.flatMap((report) => ('failure' in report ? [] : [report]))
      const { conversions } = stores
      const [settings, known, links] = [
        await stores.conversionSettings.find(workspaceId),
        await conversions.findByKeys(
          workspaceId,
          read.flatMap(({ key }) => key ?? []),
        ),
        await conversions.linksOf(workspaceId, [
          ...new Set(read.flatMap(({ visit }) => visit?.linkSeq ?? [])),
        ]),
      ]
      const chunk = new Chunk({ settings, known, links, now }, () => ({
        id: uuidV7(clock, this.#deps.random),
        workspace_id: workspaceId,
      }))
      const results = reports.map((report) => chunk.take(report))
      const { added } = chunk
      if (added.length === 0) return results
      try {
        await enforceQuotas(stores, limits, { conversions: added.length })
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        return chunk.withoutAdded(results, error)
      }
      await conversions.insert(added.map(({ link: _, ...row }) => row))
      for (const each of added) await stores.events.append(actor, recordedEvent(each), now)
      return results
    })
  }

  #read({ workspaceId }: Actor, input: unknown, requestKey: string | undefined): Report {
    const { tokens, key } = this.#deps
    const parsed = parseInput(input) as { value?: ConversionInput; error?: Failure }
    if (parsed.value === undefined) return { failure: parsed.error ?? Failure.invalid({}) }
    const { value } = parsed
    const failure = faultOf(value)
    if (failure !== undefined) return { failure }
    const digest = (text: string) =>
      createHmac('sha256', key).update(`${workspaceId}\n${text}`).digest('base64url')
    const { idempotency_key: sent, ...rest } = value
    const keyed = sent ? `key ${sent}` : requestKey && `request ${requestKey}`
    return {
      input: value,
      visit: tokens.read(workspaceId, value.token),
      key: keyed === undefined ? null : digest(keyed),
      fingerprint: keyed === undefined ? null : digest(JSON.stringify(Object.entries(rest).sort())),
    }
  }
}

type ConversionQuery = Parameters<ConversionReports['read']>[1] & PeriodInput

type ReadReport = {
  readonly input: ConversionInput
  /** Undefined for a token that cannot be read. */
  readonly visit: ReturnType<VisitTokens['read']>
  readonly key: string | null
  readonly fingerprint: string | null
}

type Report = ReadReport | { readonly failure: Failure }

type ChunkFacts = {
  readonly settings: ConversionSettings
  readonly known: readonly Conversion[]
  readonly links: readonly ConvertingLink[]
  readonly now: number
}

/** The reports of one transaction, taken one after the other. */
class Chunk {
  readonly added: LinkedConversion[] = []
  readonly #facts: ChunkFacts
  readonly #ids: () => Pick<Conversion, 'id' | 'workspace_id'>
  readonly #byKey: Map<string | null, Conversion>
  readonly #links: ReadonlyMap<number, ConvertingLink>

  constructor(facts: ChunkFacts, ids: () => Pick<Conversion, 'id' | 'workspace_id'>) {
    this.#facts = facts
    this.#ids = ids
    this.#byKey = new Map(facts.known.map((row) => [row.idempotency_key, row]))
    this.#links = new Map(facts.links.map((link) => [link.seq, link]))
  }

  take(report: Report): Recorded {
    if ('failure' in report) return { status: 'failed', failure: report.failure }
    const repeated = report.key === null ? undefined : this.#byKey.get(report.key)
    if (repeated !== undefined) return this.#repeat(report, repeated)
    const { visit } = report
    const { window_days: max } = this.#facts.settings
    if (visit === undefined) return refused({ code: 'unusable_token', reason: 'unknown' })
    if (this.#facts.now - visit.atMs * 1_000 > max * DAY_MICROS) {
      return refused({ code: 'unusable_token', reason: 'old', max })
    }
    const link = this.#links.get(visit.linkSeq)
    if (link === undefined) return refused({ code: 'unusable_token', reason: 'deleted' })
    return this.#add(report, visit, link)
  }

  /** Returns the results of a chunk of which nothing is added. */
  withoutAdded(results: readonly Recorded[], failure: Failure): readonly Recorded[] {
    const ids = new Set(this.added.map(({ id }) => id))
    return results.map((result) =>
      'conversion' in result && ids.has(result.conversion.id)
        ? { status: 'failed', failure }
        : result,
    )
  }

  #add(
    { input, key, fingerprint }: ReadReport,
    { linkSeq, atMs, ...visit }: NonNullable<ReadReport['visit']>,
    link: ConvertingLink,
  ): Recorded {
    const { now } = this.#facts
    const clicked_at = atMs * 1_000
    const sent = occurredAt(input, now)
    if (sent < clicked_at - CLOCK_DIFFERENCE_MICROS) {
      const min = formatInstant(clicked_at)
      return refused({ code: 'impossible_instant', reason: 'before', min }, 'occurred_at')
    }
    if (sent > now + CLOCK_DIFFERENCE_MICROS) {
      return refused({ code: 'impossible_instant', reason: 'future' }, 'occurred_at')
    }
    const occurred_at = Math.max(sent, clicked_at)
    const conversion: LinkedConversion = {
      ...this.#ids(),
      link_seq: linkSeq,
      event: input.event,
      value: input.value ?? null,
      currency: input.currency ?? null,
      ...{ occurred_at, recorded_at: now, clicked_at, ...visit },
      ...{ idempotency_key: key, fingerprint, link },
    }
    this.added.push(conversion)
    if (key !== null) this.#byKey.set(key, conversion)
    return { status: 'recorded', conversion }
  }

  #repeat({ fingerprint }: ReadReport, row: Conversion): Recorded {
    if (row.fingerprint !== fingerprint) {
      return { status: 'failed', failure: Failure.idempotencyConflict() }
    }
    const link = this.#links.get(row.link_seq)
    if (link === undefined) return refused({ code: 'unusable_token', reason: 'deleted' })
    return { status: 'repeated', conversion: { ...row, link } }
  }
}

type TokenFault = Parameters<typeof Failure.invalid>[0][string][number]

function refused(fault: TokenFault, field = 'token'): Recorded {
  return { status: 'failed', failure: Failure.invalid({ [field]: [fault] }) }
}

/** Returns what is wrong with a report that has the right shape. */
function faultOf({ value, currency, occurred_at }: ConversionInput): Failure | undefined {
  const hasValue = (value ?? null) !== null
  const hasCurrency = (currency ?? null) !== null
  if (hasValue && !hasCurrency) return Failure.invalid({ currency: [{ code: 'required' }] })
  if (hasCurrency && !hasValue) {
    return Failure.invalid({ currency: [{ code: 'incompatible', reason: 'only', other: 'value' }] })
  }
  const instant = typeof occurred_at === 'string' ? parseInstant(occurred_at) : undefined
  return instant !== undefined && 'fault' in instant
    ? Failure.invalid({ occurred_at: [instant.fault] })
    : undefined
}

function occurredAt({ occurred_at }: ConversionInput, now: number): number {
  const parsed = typeof occurred_at === 'string' ? parseInstant(occurred_at) : { value: now }
  return 'value' in parsed ? parsed.value : now
}

/** Names no visit and no key of the customer. */
function recordedEvent({ id, link, event, value, currency, occurred_at }: LinkedConversion) {
  return {
    type: 'conversion.recorded',
    subjectId: id,
    before: null,
    after: {
      ...{ event, ...(value !== null && { value, currency }) },
      occurred_at: formatInstant(occurred_at),
      ...{ link_id: link.id, domain: link.domain, key: link.key },
    },
  } as const
}
