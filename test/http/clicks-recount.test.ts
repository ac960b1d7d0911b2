import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import {
  CLICK_DIMENSIONS,
  CLICK_FLAGS,
  type Click,
  cappedClick,
  countVisits,
} from '../../src/clicks/click.ts'
import { INTERVALS } from '../../src/clicks/report/period.ts'
import { naiveCuts } from '../domain/clicks/naive-cuts.ts'
import { ZONES } from '../domain/clicks/zones.ts'
import { type Answer, expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { cases } from '../support/properties.ts'
import { SEED } from '../support/random.ts'
import { joinCapped } from '../support/recount.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'
import { parseCsv } from './parse-csv.ts'

const MINUTE_MS = 60_000
const QUARTER_MS = 900_000
const QUARTER_MICROS = QUARTER_MS * 1_000
const DAY_MICROS = 96 * QUARTER_MICROS
const FIRST_MS = Date.UTC(2026, 2, 20)
const DAYS = 20
const CLICKS = 1_500
const QUERIES = 60

/** Enough referrers that a day stores its values separately. */
const click = fc.record({
  at: fc.integer({ min: FIRST_MS * 1_000, max: FIRST_MS * 1_000 + DAYS * DAY_MICROS - 1 }),
  link: fc.nat({ max: 2 }),
  flags: fc.constantFrom(0, 0, 0, 0, 1, 2, 4, 8, 9),
  visitor: fc.integer({ min: 1, max: 30 }),
  country: fc.constantFrom('', 'DE', 'AT', 'CH'),
  device: fc.constantFrom('', 'mobile', 'desktop'),
  os: fc.constantFrom('iOS', 'Android', 'Windows'),
  browser: fc.constantFrom('Safari', 'Chrome'),
  referrer: fc.stringMatching(/^[a-e]{1,2}\.example$/),
  language: fc.constantFrom('', 'de', 'en'),
  source: fc.constantFrom('qr', 'direct'),
  rule: fc.constantFrom('', '', 'phones', 'ab'),
  variant: fc.constantFrom('', '', 'A', 'a', 'größer'),
  label: fc.constantFrom('', '', 'newsletter', 'Größe'),
  region: fc.constantFrom('', '', 'US-CA'),
  city: fc.constantFrom('', '', 'Zürich'),
  beyondCap: fc.nat({ max: 9 }),
})

const query = fc.record({
  subject: fc.constantFrom('link', 'domain', 'workspace'),
  ends: fc.uniqueArray(fc.integer({ min: -200, max: DAYS * 96 + 200 }), {
    minLength: 2,
    maxLength: 2,
  }),
  zone: fc.constantFrom(...ZONES),
  interval: fc.option(fc.constantFrom(...INTERVALS)),
  groupBy: fc.option(fc.constantFrom(...CLICK_DIMENSIONS)),
  limit: fc.integer({ min: 1, max: 5 }),
  bots: fc.constantFrom('exclude', 'include', 'only'),
  wanted: fc.record(
    {
      country: fc.subarray(['', 'de', 'AT', 'XX'], { minLength: 1 }),
      os: fc.subarray(['ios', 'Android'], { minLength: 1 }),
      variant: fc.subarray(['', 'A', 'größer'], { minLength: 1 }),
      label: fc.subarray(['', 'newsletter', 'Größe'], { minLength: 1 }),
      city: fc.subarray(['', 'Zürich'], { minLength: 1 }),
    },
    { requiredKeys: [] },
  ),
})

type Query = typeof query extends fc.Arbitrary<infer Q> ? Q : never

function isWanted(click: Click, wanted: Query['wanted']): boolean {
  return Object.entries(wanted).every(([dimension, values = []]) =>
    values.some((value) => {
      const own = click[dimension as keyof typeof wanted]
      const isExact = ['variant', 'label', 'city'].includes(dimension)
      return isExact ? value === own : value.toLowerCase() === own.toLowerCase()
    }),
  )
}

function countsOf(clicks: readonly Click[], bots: Query['bots']) {
  const people = clicks.filter(({ flags }) => flags === 0).length
  return {
    ...(bots !== 'only' && { clicks: people }),
    ...(bots !== 'exclude' && { bots: countVisits(clicks) - people }),
  }
}

/** Distinct visitors per UTC day, summed over the days. */
function visitorsOf(clicks: readonly Click[]): number {
  const people = clicks.filter(({ flags }) => flags === 0)
  return new Set(people.map(({ at, visitor }) => `${Math.floor(at / DAY_MICROS)} ${visitor}`)).size
}

function within(clicks: readonly Click[], from: number, to: number): Click[] {
  return clicks.filter(({ at }) => from * QUARTER_MICROS <= at && at < to * QUARTER_MICROS)
}

onEachEngine('the clicks API compared with a recount of single clicks,', (stage) => {
  const paths = { link: '', domain: '', workspace: '/clicks' }
  const clicksOf: Record<Query['subject'], Click[]> = { link: [], domain: [], workspace: [] }

  before(async () => {
    const { api, service } = stage
    const links = [
      await createLink(api),
      await createLink(api, { domain: 'go.localhost' }),
      await createLink(api, { domain: 'go.localhost' }),
    ]
    const seqs = await Promise.all(links.map((link) => seqOf(service, link)))
    const domains = (await api.get('/domains')).body.data
    paths.link = `/links/${links[1].id}/clicks`
    paths.domain = `/domains/${domains[0].id}/clicks`
    const sample = fc.sample(click, { numRuns: CLICKS, seed: SEED })
    const clicks = sample.map(({ link, beyondCap, ...known }) => {
      const link_seq = seqs[link] ?? 0
      // One click in ten represents up to thirty capped clicks.
      return beyondCap === 0
        ? cappedClick(link_seq, known.at, known.visitor)
        : someClick({ ...known, link_seq })
    })
    clicksOf.workspace = clicks
    clicksOf.domain = clicks.filter(({ link_seq }) => link_seq !== seqs[0])
    clicksOf.link = clicks.filter(({ link_seq }) => link_seq === seqs[1])
    await takeIn(service, clicks)
  })

  function requestClicks(
    { subject, ends, zone, wanted, bots }: Query,
    more: string[][],
  ): Promise<Answer> {
    const [from = 0, to = 0] = ends.toSorted((a, b) => a - b)
    const instant = (quarter: number) => new Date(FIRST_MS + quarter * QUARTER_MS).toISOString()
    const parameters = new URLSearchParams([
      ['from', instant(from)],
      ['to', instant(to)],
      ['timezone', zone],
      ['bots', bots],
      ...Object.entries(wanted).flatMap(([name, values = []]) =>
        values.map((value) => [name, value]),
      ),
      ...more,
    ])
    const isExport = more.some(([name]) => name === 'format')
    return stage.api.get(`${paths[subject]}${isExport ? '/export' : ''}?${parameters}`)
  }

  function expected({ subject, ends, wanted }: Query) {
    const first = FIRST_MS / QUARTER_MS
    const [from = 0, to = 0] = ends.map((end) => first + end).sort((a, b) => a - b)
    const clicks = within(clicksOf[subject], from, to).filter((one) => isWanted(one, wanted))
    return { from, to, clicks }
  }

  const startOf = (point: { start: string }) =>
    Temporal.Instant.from(point.start).epochMilliseconds / QUARTER_MS

  test('returns a series with every interval', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const interval = asked.interval ?? 'day'
        const { body } = expectStatus(await requestClicks(asked, [['interval', interval]]), 200)
        const { from, to, clicks } = expected(asked)
        const cuts = naiveCuts(from, to, asked.zone, interval)
        assert.deepEqual([startOf({ start: body.from }), startOf({ start: body.to })], [from, to])
        assert.deepEqual(
          { ...body.total, visitors: 0 },
          { ...countsOf(clicks, 'include'), visitors: 0 },
        )
        if (body.total.visitors !== null) assert.equal(body.total.visitors, visitorsOf(clicks))
        assert.deepEqual(body.data.map(startOf), cuts.slice(0, -1))
        for (const [nth, { start: _, visitors, ...counts }] of body.data.entries()) {
          const own = within(clicks, cuts[nth] ?? 0, cuts[nth + 1] ?? 0)
          assert.deepEqual(counts, countsOf(own, asked.bots))
          assert.equal(visitors === undefined, asked.bots === 'only')
          if (typeof visitors === 'number') assert.equal(visitors, visitorsOf(own))
        }
      }),
      cases(QUERIES),
    )
  })

  test('returns groups, most clicks first, with and without intervals', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const { interval, groupBy, limit, bots } = {
          ...asked,
          groupBy: asked.groupBy ?? 'referrer',
        }
        const { body } = expectStatus(
          await requestClicks(asked, [
            ['group_by', groupBy],
            ['limit', String(limit)],
            ...(interval === null ? [] : [['interval', interval]]),
          ]),
          200,
        )
        const { from, to, clicks } = expected(asked)
        const groups = [...Map.groupBy(clicks, (one) => one[groupBy])]
          .map(([value, own]) => ({ value, own, counts: countsOf(own, bots) }))
          .map((group) => ({
            ...group,
            weight: (group.counts.clicks ?? 0) + (group.counts.bots ?? 0),
          }))
          .filter(({ weight }) => weight > 0)
          .sort((a, b) => b.weight - a.weight || (a.value < b.value ? -1 : 1))
        const cuts = interval && naiveCuts(from, to, asked.zone, interval)
        assert.deepEqual(
          body.data.map((group: { points?: { start: string }[] }) => ({
            ...group,
            ...(group.points && {
              points: group.points.map((point) => ({ ...point, start: startOf(point) })),
            }),
          })),
          groups.slice(0, limit).map(({ value, own, counts }) => ({
            value: value === '' ? null : value,
            ...counts,
            ...(cuts && {
              points: cuts.slice(0, -1).map((start, nth) => ({
                start,
                ...countsOf(within(own, start, cuts[nth + 1] ?? 0), bots),
              })),
            }),
          })),
        )
        const others = groups.slice(limit)
        assert.deepEqual(body.rest, {
          values: others.length,
          ...countsOf(
            others.flatMap(({ own }) => own),
            bots,
          ),
        })
      }),
      cases(QUERIES),
    )
  })

  test('exports each click once', async () => {
    // A capped record has the instant of the first click of its minute that was ingested.
    const lineOf = (one: Record<string, unknown>, ms: number, capped: boolean) =>
      [
        capped ? ms - (ms % MINUTE_MS) : Math.floor(ms),
        String(one.count),
        ...CLICK_DIMENSIONS.map((dimension) => one[dimension] || '-'),
      ].join(' ')
    const isCapped = (flags: unknown) => String(flags) === 'capped'
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom('csv', 'ndjson'), async (asked, format) => {
        const { body } = expectStatus(await requestClicks(asked, [['format', format]]), 200)
        const clicks = expected(asked).clicks.filter(
          ({ flags }) => asked.bots === 'include' || (flags === 0) === (asked.bots === 'exclude'),
        )
        const lines: Record<string, unknown>[] =
          format === 'csv'
            ? recordsOf(body)
            : body
                .split('\n')
                .slice(0, -1)
                .map((text: string) => JSON.parse(text))
        assert.deepEqual(
          lines.map((one) => lineOf(one, Date.parse(String(one.at)), isCapped(one.flags))).sort(),
          joinCapped(clicks)
            .map((one) => lineOf(one, one.at / 1_000, one.flags === CLICK_FLAGS.capped))
            .sort(),
        )
      }),
      cases(QUERIES / 2),
    )
  })
})

function recordsOf(csv: string): Record<string, unknown>[] {
  const [header = [], ...records] = parseCsv(csv)
  return records.map((record) => Object.fromEntries(header.map((name, nth) => [name, record[nth]])))
}
