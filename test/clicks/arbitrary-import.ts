import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { type Click, countedClick, NOWHERE } from '../../src/clicks/click.ts'
import { clickOfVisit } from '../../src/clicks/spool/visit-click.ts'
import { OPENING_DAY } from '../../src/clicks/tally/click-day.ts'
import type { ClickRecord } from '../../src/imports/import-source.ts'
import type { ImportedClick } from '../../src/imports/imported-clicks.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { recount } from '../support/recount.ts'
import type { StoreUnderTest } from '../support/store.ts'
import type { ImportPlan } from './click-import.ts'
import { createTestLink, type TestLink } from './test-link.ts'

const DAY_MICROS = 86_400_000_000
const HOUR_MICROS = 3_600_000_000
const FIRST_DAY = 20_600
const DAYS = 60
const LINKS = 4
const AGENTS = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  'Googlebot/2.1 (+http://www.google.com/bot.html)',
  '',
  null,
]

/** What a source has of the clicks of `LINKS` links; null where it has no total. */
export type ClickSource = {
  readonly totals: readonly (number | null)[]
  readonly dated: readonly (
    | { readonly kind: 'click'; readonly link: number; readonly hour: number; readonly nth: number }
    | {
        readonly kind: 'count'
        readonly link: number
        readonly hour: number
        readonly count: number
      }
  )[]
}

const where = {
  link: fc.nat({ max: LINKS - 1 }),
  hour: fc.nat({ max: 24 * (DAYS - 1) }),
}

export const arbitrarySource: fc.Arbitrary<ClickSource> = fc.record({
  totals: fc.array(fc.option(fc.nat({ max: 2_000 })), { minLength: LINKS, maxLength: LINKS }),
  dated: fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('click' as const), ...where, nth: fc.nat({ max: 40 }) }),
      fc.record({
        kind: fc.constant('count' as const),
        ...where,
        count: fc.integer({ min: 1, max: 900 }),
      }),
    ),
    { maxLength: 60, size: 'max' },
  ),
})

export type PlannedImport = { readonly plan: ImportPlan; readonly links: readonly TestLink[] }

/** Creates the links of a source. */
export async function planImport(
  { store }: StoreUnderTest,
  { totals, dated }: ClickSource,
): Promise<PlannedImport> {
  const links: TestLink[] = []
  for (let nth = 0; nth < LINKS; nth += 1) links.push(await createTestLink(store, systemClock()))
  const seqOf = (link: number) => links[link]?.seq ?? 0
  const clicks: ImportedClick[] = totals.flatMap((total, link) => {
    // Totals of Terse count people only.
    const of = link % 2 === 1 ? 'people' : undefined
    return total === null
      ? []
      : { linkSeq: seqOf(link), kind: 'total', clicks: total, of, lastClick: null }
  })
  for (const { link, hour, ...one } of dated) {
    const at = FIRST_DAY * DAY_MICROS + hour * HOUR_MICROS
    const record = { resume: '', ref: '', at }
    const imported: ImportedClick =
      one.kind === 'click'
        ? { linkSeq: seqOf(link), kind: 'click', click: { ...record, ...visit(one.nth) } }
        : {
            linkSeq: seqOf(link),
            kind: 'count',
            count: { ...record, kind: 'count', interval: 'hour', count: one.count },
          }
    clicks.push(imported)
  }
  const workspaceId = links[0]?.scope.workspaceId ?? ''
  return { plan: { importId: randomUUID(), workspaceId, clicks }, links }
}

function visit(nth: number): Omit<ClickRecord, 'resume' | 'ref' | 'at'> {
  return {
    kind: 'click',
    address: nth % 5 === 0 ? null : `192.0.2.${nth}`,
    user_agent: AGENTS[nth % AGENTS.length] ?? null,
    referrer: nth % 3 === 0 ? 'https://www.example.com/page' : nth % 3 === 1 ? 'example.org' : '',
    country: nth % 2 === 0 ? 'DE' : '',
    is_bot: nth % 7 === 0,
  }
}

/** Compares everything that is counted of the links with a count in the simplest way. Returns the opening balances. */
export async function assertImported(
  at: StoreUnderTest,
  { plan, links }: PlannedImport,
): Promise<number> {
  let sum = 0
  for (const link of links) {
    const { clicks, opening } = expectedOf(plan.clicks, link.seq)
    sum += opening
    await assertCounted(at, link, clicks, opening)
  }
  return sum
}

function expectedOf(imported: readonly ImportedClick[], linkSeq: number) {
  const reading = { key: [0, 0, 0, 0] as const, places: () => NOWHERE }
  const clicks: Click[] = []
  let total = 0
  let isOfPeople = false
  for (const one of imported.filter((each) => each.linkSeq === linkSeq)) {
    if (one.kind === 'total') {
      total = one.clicks
      isOfPeople = one.of === 'people'
    } else if (one.kind === 'click') clicks.push(clickOfVisit(linkSeq, one.click, reading))
    else clicks.push(countedClick(linkSeq, one.count.at, one.count.count))
  }
  const inTotal = clicks.filter(({ flags }) => !isOfPeople || flags === 0)
  const dated = inTotal.reduce((sum, { count }) => sum + count, 0)
  return { clicks, opening: Math.max(0, total - dated) }
}

async function assertCounted(
  { store }: StoreUnderTest,
  link: TestLink,
  clicks: readonly Click[],
  opening: number,
): Promise<void> {
  const persons = clicks.filter(({ flags }) => flags === 0)
  assert.deepEqual(await link.counters(), {
    clicks: persons.reduce((sum, { count }) => sum + count, opening),
    last_click: persons.length === 0 ? null : Math.max(...persons.map(({ at }) => at)),
  })
  const { reports } = store.read
  for (const dimension of ['country', 'browser', 'referrer'] as const) {
    const options = { dimension, slots: true }
    const days = await reports.readDays(link.scope, FIRST_DAY, FIRST_DAY + DAYS, options)
    assert.deepEqual(days, recount(clicks, options))
  }
  const [before] = await reports.readDays(link.scope, OPENING_DAY, OPENING_DAY, { slots: false })
  assert.equal(before?.total.persons ?? 0, opening)
  const raw = await rawClicksOf(store, link.scope)
  assert.deepEqual(raw.map(rowOf).sort(), clicks.map(rowOf).sort())
}

function rowOf({ at, count, flags, country, browser }: Click): string {
  return `${at} ${count} ${flags} ${country} ${browser}`
}
