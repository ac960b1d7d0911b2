import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Click } from '../../src/clicks/click.ts'
import { AGENTS } from '../redirect/agents.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'
import { visit } from '../support/visit.ts'

/** The clicks on the link that most charts here show. */
const CLICKS: readonly (readonly [at: string, rest: Partial<Click>])[] = [
  ['2026-03-28T22:59:59.999999Z', { visitor: 1, country: 'DE', os: 'iOS', referrer: 'a.example' }],
  [
    '2026-03-28T23:00:00.000000Z',
    {
      visitor: 1,
      country: 'DE',
      os: 'iOS',
      source: 'qr',
      rule: 'ab',
      variant: 'Größer',
      label: 'Mail',
      region: 'US-CA',
      city: 'San Diego',
    },
  ],
  ['2026-03-29T00:30:00Z', { visitor: 1, country: 'DE', os: 'Windows', language: 'de' }],
  [
    '2026-03-29T01:30:00Z',
    { visitor: 2, country: 'AT', os: 'iOS', device: 'mobile', rule: 'ab', variant: 'größer' },
  ],
  ['2026-03-29T12:00:00Z', { visitor: 2, country: '', browser: 'Safari' }],
  ['2026-03-29T12:00:01Z', { visitor: 9, country: 'US', flags: 1 }],
  ['2026-03-30T12:00:01Z', { visitor: 9, country: 'DE', flags: 4, os: 'iOS' }],
  ['2026-03-31T22:00:00Z', { visitor: 1, country: 'DE' }],
]

const DAYS = 'from=2026-03-29&to=2026-03-31'

const tests = (stage: Stage) => {
  let path: string
  let domainPath: string
  let other: Api
  before(async () => {
    const { api, service } = stage
    const link = await createLink(api, { key: 'clicked' })
    const sibling = await createLink(api, { key: 'sibling', domain: 'go.localhost' })
    other = await service.api('other')
    const foreign = await createLink(other, { key: 'foreign' })
    path = `/links/${link.id}/clicks`
    const domains = (await api.get('/domains')).body.data
    domainPath = `/domains/${domains[0].id}/clicks`
    const at = (text: string) => Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
    const seq = await seqOf(service, link)
    await takeIn(service, [
      ...CLICKS.map(([text, rest]) => someClick({ at: at(text), link_seq: seq, ...rest })),
      someClick({
        at: at('2026-03-29T05:00:00Z'),
        link_seq: await seqOf(service, sibling),
        visitor: 1,
      }),
      someClick({
        at: at('2026-03-29T05:00:00Z'),
        link_seq: await seqOf(service, foreign),
        visitor: 5,
      }),
    ])
  })

  async function show(query: string, base = path) {
    return expectStatus(await stage.api.get(`${base}?${query}`), 200).body
  }

  test('show the last 30 days by day when no parameter is given', async () => {
    const answer = await show('')
    const today = new Date().toISOString().slice(0, 10)
    assert.equal(answer.data.length, 30)
    assert.equal(answer.data.at(-1).start, `${today}T00:00:00.000000Z`)
    assert.deepEqual(answer.data[0], { start: answer.from, clicks: 0, visitors: 0 })
    const { from, to, data, ...rest } = answer
    assert.deepEqual(rest, {
      timezone: 'UTC',
      interval: 'day',
      group_by: null,
      counted_until: null,
      opening: 0,
      total: { clicks: 0, bots: 0, visitors: 0 },
    })
  })

  test('show a visit within seconds', async () => {
    const link = await createLink(stage.api, { key: 'visited' })
    const headers = { 'user-agent': AGENTS.iPhone, 'accept-language': 'de-AT' }
    await visit(stage.service.port, '/visited?qr=1', { headers })
    await visit(stage.service.port, '/visited', { headers: { 'user-agent': AGENTS.googlebot } })
    await eventually(async () => {
      const { total } = await show('bots=include', `/links/${link.id}/clicks`)
      assert.deepEqual(total, { clicks: 1, bots: 1, visitors: 1 })
    })
    const { data } = await show('group_by=source&language=de', `/links/${link.id}/clicks`)
    assert.deepEqual(data, [{ value: 'qr', clicks: 1 }])
  })

  test('return every interval in order, and the total', async () => {
    assert.deepEqual(await show(DAYS), {
      from: '2026-03-29T00:00:00.000000Z',
      to: '2026-03-31T00:00:00.000000Z',
      timezone: 'UTC',
      interval: 'day',
      group_by: null,
      counted_until: null,
      opening: 0,
      total: { clicks: 3, bots: 2, visitors: 2 },
      data: [
        { start: '2026-03-29T00:00:00.000000Z', clicks: 3, visitors: 2 },
        { start: '2026-03-30T00:00:00.000000Z', clicks: 0, visitors: 0 },
      ],
    })
  })

  test('begin days at midnight of the zone, and give a day with a clock change 23 hours', async () => {
    const zone = `from=2026-03-29&to=2026-03-30&timezone=europe/berlin`
    const day = await show(zone)
    assert.deepEqual(
      [day.from, day.to, day.timezone],
      ['2026-03-29T00:00:00.000000+01:00', '2026-03-30T00:00:00.000000+02:00', 'Europe/Berlin'],
    )
    // Visitors are counted per UTC day: its first click is one of two on its UTC day, the others are all of theirs.
    assert.deepEqual(day.total, { clicks: 4, bots: 1, visitors: 3 })
    const { data } = await show(`${zone}&interval=hour`)
    assert.equal(data.length, 23)
    assert.deepEqual(
      data.filter(({ clicks }: { clicks: number }) => clicks > 0),
      [
        { start: '2026-03-29T00:00:00.000000+01:00', clicks: 1, visitors: 1 },
        { start: '2026-03-29T01:00:00.000000+01:00', clicks: 1, visitors: 1 },
        { start: '2026-03-29T03:00:00.000000+02:00', clicks: 1, visitors: 1 },
        { start: '2026-03-29T14:00:00.000000+02:00', clicks: 1, visitors: 1 },
      ],
    )
  })

  test('return null visitors when the period is not made of whole days', async () => {
    const { total, data } = await show('from=2026-03-29T00:00:00Z&to=2026-03-29T06:00:00Z')
    assert.deepEqual(total, { clicks: 2, bots: 0, visitors: null })
    assert.equal(data[0].visitors, null)
  })

  test('round instants outward to a quarter hour', async () => {
    const { from, to, total } = await show(
      'from=2026-03-29T00:44:59Z&to=2026-03-29T01:30:00.000001Z',
    )
    assert.deepEqual([from, to], ['2026-03-29T00:30:00.000000Z', '2026-03-29T01:45:00.000000Z'])
    assert.equal(total.clicks, 2)
  })

  test('cut the first and the last month at the ends of the period', async () => {
    const { data } = await show(
      'from=2026-03-29&to=2026-04-02&interval=month&timezone=Europe/Berlin',
    )
    assert.deepEqual(data, [
      { start: '2026-03-29T00:00:00.000000+01:00', clicks: 4, visitors: 3 },
      { start: '2026-04-01T00:00:00.000000+02:00', clicks: 1, visitors: 1 },
    ])
  })

  for (const [query, expected] of [
    ['', { start: '2026-03-29T00:00:00.000000Z', clicks: 3, visitors: 2 }],
    ['&bots=exclude', { start: '2026-03-29T00:00:00.000000Z', clicks: 3, visitors: 2 }],
    ['&bots=include', { start: '2026-03-29T00:00:00.000000Z', clicks: 3, bots: 1, visitors: 2 }],
    ['&bots=only', { start: '2026-03-29T00:00:00.000000Z', bots: 1 }],
  ] as const) {
    test(`return clicks and bots with "${query}"`, async () => {
      const { total, data } = await show(`${DAYS}${query}`)
      assert.deepEqual(data[0], expected)
      assert.deepEqual(total, { clicks: 3, bots: 2, visitors: 2 })
    })
  }

  const MARCH = 'from=2026-03-01&to=2026-04-01'
  for (const [query, data, rest] of [
    [
      'group_by=country',
      [
        { value: 'DE', clicks: 4 },
        { value: null, clicks: 1 },
        { value: 'AT', clicks: 1 },
      ],
      { values: 0, clicks: 0 },
    ],
    ['group_by=country&limit=1', [{ value: 'DE', clicks: 4 }], { values: 2, clicks: 2 }],
    [
      'group_by=country&bots=only',
      [
        { value: 'DE', bots: 1 },
        { value: 'US', bots: 1 },
      ],
      { values: 0, bots: 0 },
    ],
    [
      'group_by=country&bots=include&limit=2',
      [
        { value: 'DE', clicks: 4, bots: 1 },
        { value: null, clicks: 1, bots: 0 },
      ],
      { values: 2, clicks: 1, bots: 1 },
    ],
    ['group_by=country&country=at', [{ value: 'AT', clicks: 1 }], { values: 0, clicks: 0 }],
    ['group_by=os&country=AT', [{ value: 'iOS', clicks: 1 }], { values: 0, clicks: 0 }],
    [
      'group_by=os&country=DE&source=direct',
      [
        { value: null, clicks: 1 },
        { value: 'Windows', clicks: 1 },
        { value: 'iOS', clicks: 1 },
      ],
      { values: 0, clicks: 0 },
    ],
    [
      'group_by=country&country=DE&interval=month',
      [{ value: 'DE', clicks: 4, points: [{ start: '2026-03-01T00:00:00.000000Z', clicks: 4 }] }],
      { values: 0, clicks: 0 },
    ],
  ] as const) {
    test(`group by value with ${query}`, async () => {
      const answer = await show(`${MARCH}&${query}`)
      assert.deepEqual([answer.data, answer.rest], [data, rest])
    })
  }

  for (const dimension of [
    'country',
    'device',
    'os',
    'browser',
    'referrer',
    'language',
    'source',
    'rule',
    'variant',
    'label',
    'region',
    'city',
  ]) {
    test(`group by ${dimension}, and filter by the returned values`, async () => {
      const { data, total } = await show(`${MARCH}&group_by=${dimension}`)
      const sum = data.reduce(
        (clicks: number, group: { clicks: number }) => clicks + group.clicks,
        0,
      )
      assert.equal(sum, total.clicks)
      assert.ok(data.length > 1)
      for (const { value, clicks } of data) {
        const ignoresCase = !['rule', 'variant', 'label', 'region', 'city'].includes(dimension)
        const sent = encodeURIComponent((ignoresCase ? value?.toUpperCase() : value) ?? '')
        const filter = `${dimension}=${sent}`
        assert.equal((await show(`${MARCH}&${filter}`)).total.clicks, clicks, filter)
      }
    })
  }

  for (const [filter, clicks, bots] of [
    ['country=DE&country=AT', 5, 1],
    ['country=XX', 0, 0],
    ['country=', 1, 0],
    ['country=DE&os=iOS', 2, 1],
    ['country=DE&os=iOS&source=qr', 1, 0],
    ['os=iOS&os=Windows&country=DE&country=AT', 4, 1],
    ['country=DE&os=', 1, 0],
    ['rule=ab', 2, 0],
    ['rule=AB', 0, 0],
    ['rule=', 4, 2],
    ['rule=ab&variant=gr%C3%B6%C3%9Fer', 1, 0],
    ['country=DE&variant=', 3, 1],
    ['label=Mail', 1, 0],
    ['label=mail', 0, 0],
    ['region=US-CA&city=San+Diego', 1, 0],
    ['country=DE&label=', 3, 1],
  ] as const) {
    test(`filter with ${filter}`, async () => {
      const { total, data } = await show(`${MARCH}&interval=month&${filter}`)
      assert.deepEqual([total.clicks, total.bots], [clicks, bots])
      assert.equal(data[0].clicks, clicks)
    })
  }

  test('return every interval for each value', async () => {
    const { data } = await show(`${DAYS}&group_by=country&interval=day&limit=1`)
    assert.deepEqual(data, [
      {
        value: null,
        clicks: 1,
        points: [
          { start: '2026-03-29T00:00:00.000000Z', clicks: 1 },
          { start: '2026-03-30T00:00:00.000000Z', clicks: 0 },
        ],
      },
    ])
  })

  test('count only the links of the domain or workspace', async () => {
    assert.deepEqual((await show(DAYS, domainPath)).total, { clicks: 1, bots: 0, visitors: 1 })
    // One visitor visited both links.
    assert.deepEqual((await show(DAYS, '/clicks')).total, { clicks: 4, bots: 2, visitors: 2 })
  })

  test('return 404 for another workspace, for exports too, and exclude its clicks from its own charts', async () => {
    for (const base of [path, domainPath, `${path}/export`, `${domainPath}/export`]) {
      const foreign = expectProblem(await other.get(`${base}?${DAYS}`), 'not_found')
      const unknown = await other.get(
        base.replace(/[0-9a-f-]{36}/, '00000000-0000-7000-8000-000000000000'),
      )
      const { request_id } = foreign.body
      assert.deepEqual(foreign.body, { ...unknown.body, request_id })
    }
    const { body } = expectStatus(await other.get(`/clicks?${DAYS}`), 200)
    assert.deepEqual(body.total, { clicks: 1, bots: 0, visitors: 1 })
    const { body: lines } = expectStatus(await other.get(`/clicks/export?${DAYS}`), 200)
    assert.equal(lines.split('\r\n').length, 3)
    assert.match(lines, /,"foreign",/)
  })

  for (const [query, ...fields] of [
    ['from=yesterday', 'from'],
    ['from=2026-03-29&to=2026-03-29', 'from'],
    ['from=2026-03-29T00:00:00%2B01:00&to=2026-03-28', 'from'],
    ['from=2026-03-29&from=2026-03-30', 'from'],
    ['from=2000-01-01', 'from'],
    ['to=never&timezone=Mars/Base', 'timezone', 'to'],
    ['timezone=%2B01:00', 'timezone'],
    ['bots=some', 'bots'],
    ['contry=DE', 'contry'],
    ['page=1', 'page'],
    ['__proto__=1', '__proto__'],
    [`referrer=${'x'.repeat(254)}`, 'referrer'],
    [Array.from({ length: 51 }, () => 'country=DE').join('&'), 'country'],
  ] as const) {
    test(`refuse ${query.slice(0, 50)}, for exports too`, async () => {
      for (const base of [path, domainPath, '/clicks']) {
        expectInvalid(await stage.api.get(`${base}?${query}`), ...fields)
        expectInvalid(await stage.api.get(`${base}/export?${query}`), ...fields)
      }
    })
  }

  for (const [query, field] of [
    ['interval=week', 'interval'],
    ['interval=hour&from=2020-01-01&to=2026-01-01', 'interval'],
    ['group_by=planet', 'group_by'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['format=csv', 'format'],
    ['country=DE&os=iOS&from=2010-01-01', 'from'],
  ] as const) {
    test(`refuse ${query}`, async () => {
      expectInvalid(await stage.api.get(`${path}?${query}`), field)
    })
  }
}

// The dates of the clicks are fixed, and older from day to day.
onEachEngine('clicks charts', tests, { TERSE_CLICK_RETENTION_DAYS: '0' })
