import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import {
  assertResumes,
  importFixture,
  readRecords,
  readSorted,
} from '../../../../test/support/import-sources.ts'
import { assertTruth } from '../../../../test/support/import-truth.ts'
import { cases } from '../../../../test/support/properties.ts'
import {
  type ApiAnswer,
  type ApiRequest,
  apiDeps,
  assertResumesAtPages,
  readFixture,
  type SourceApi,
  startSourceApi,
} from '../../../../test/support/source-api.ts'
import { openBitly, repairJson } from './bitly-source.ts'

const GROUP = 'Bexample0001'
const DAYS = [
  { date: '2026-11-20T00:00:00+0000', clicks: 4 },
  { date: '2026-11-19T00:00:00+0000', clicks: 0 },
  { date: '2026-11-18T00:00:00+0000', clicks: 3 },
]
const MANY_DAYS = Array.from({ length: 50 }, (_, index) => ({
  date: `${new Date(Date.UTC(2026, 9, 1 + index)).toISOString().slice(0, 19)}+0000`,
  clicks: 1,
}))

describe('the Bitly API source', () => {
  const deps = apiDeps()
  const broken = readFileSync(importFixture('bitly/bitlinks-invalid-json.txt'), 'utf8')
  let api: SourceApi
  let hasClicks: boolean

  before(async () => {
    api = await startSourceApi(answer)
  })
  beforeEach(() => {
    hasClicks = true
    api.requests.length = 0
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  function answer({ path, query, headers }: ApiRequest): ApiAnswer {
    if (headers.authorization !== 'Bearer token') return { status: 403, json: {} }
    if (path === '/groups') return { json: { groups: [{ guid: GROUP }, { guid: 'Bempty' }] } }
    if (path === `/groups/${GROUP}/bitlinks`) {
      assert.equal(query.get('archived'), 'both')
      return { json: readFixture(`bitly/bitlinks-${query.has('search_after') ? 2 : 1}.json`) }
    }
    if (path.startsWith('/groups/')) {
      return { json: { links: [], pagination: { next: '', search_after: '' } } }
    }
    if (!hasClicks) return { status: 402, json: { message: 'UPGRADE_REQUIRED' } }
    if (path.endsWith('/clicks/summary')) return { json: { total_clicks: 80 } }
    if (path === '/bitlinks/go.example.com/plain/clicks')
      return { json: { link_clicks: MANY_DAYS } }
    const isClicked = path === '/bitlinks/go.example.com/docs/intro/clicks'
    return { json: { link_clicks: isClicked ? DAYS : [] } }
  }

  const open = () => openBitly({ kind: 'bitly', token: 'token', url: api.url }, deps)

  test('returns the links of truth.csv, one for each back-half', async () => {
    hasClicks = false
    const read = await readSorted(open())
    assertTruth('bitly', read.links)
    assert.deepEqual(read.counts, [])
    // The one without a destination.
    assert.deepEqual(
      read.refused.map(({ reason, row }) => [reason.split(' ')[1], row.includes('bit.ly/3nolong')]),
      [['long_url', true]],
    )
    const own = read.links.find(({ ref }) => ref === 'bit.ly/35zs3')
    const backHalf = read.links.find(({ ref }) => ref === 'links.example.test/x1j2j')
    assert.ok(own?.notes.includes('Bitly gave no clicks for this link.'))
    assert.equal(backHalf?.rest.back_half_of, 'bit.ly/35zs3')
  })

  test('asks for no more clicks when the account has none', async () => {
    hasClicks = false
    await readSorted(open())
    assert.equal(api.requests.filter(({ path }) => path.startsWith('/bitlinks/')).length, 3)
  })

  test('gives clicks by day, oldest first, and their sum', async () => {
    const { links, counts } = await readSorted(open())
    const ref = 'go.example.com/docs/intro'
    assert.equal(links.find((link) => link.ref === ref)?.clicks, 7)
    assert.deepEqual(
      counts
        .filter((count) => count.ref === ref)
        .map(({ at, count, interval }) => [at / 1_000, count, interval]),
      [
        [Date.UTC(2026, 10, 18), 3, 'day'],
        [Date.UTC(2026, 10, 20), 4, 'day'],
      ],
    )
    assert.equal(links.find(({ key }) => key === 'under_score')?.clicks ?? 0, 0)
  })

  test('asks for the total where the list of days may have been cut', async () => {
    const { links, counts } = await readSorted(open())
    const ref = 'go.example.com/plain'
    assert.equal(links.find((link) => link.ref === ref)?.clicks, 80)
    assert.equal(counts.filter((count) => count.ref === ref).length, 50)
    assert.equal(api.requests.filter(({ path }) => path.endsWith('/summary')).length, 1)
  })

  test('repairs a page that is never valid JSON, and says so', async () => {
    api.answer = (request) =>
      request.path === `/groups/${GROUP}/bitlinks` ? { text: broken } : answer(request)
    const { links } = await readSorted(open())
    api.answer = answer
    assert.equal(links[0]?.url, 'https://example.com/bad\\path')
    assert.match(links[0]?.notes.join() ?? '', /check the destination/)
  })

  test('resumes after any record', async () => {
    await assertResumes(open(), 12)
    await assertResumesAtPages(open)
  })

  test('keeps to 150 requests a minute', async () => {
    const source = open()
    const startMs = deps.clock.nowMs()
    await Array.fromAsync(source.read(fresh()))
    assert.ok(api.requests.length < 150)
    assert.equal(deps.clock.nowMs(), startMs)
    for (let round = 0; round < 2; round += 1) await Array.fromAsync(source.read(fresh()))
    assert.ok(api.requests.length > 150)
    assert.equal(deps.clock.nowMs(), startMs + 60_000)
  })

  test('reads on after a limit, a failure, a cut connection and broken JSON', async () => {
    hasClicks = false
    const limited = readFixture('bitly/error-429.json')
    api.faults.push({ status: 429, json: limited }, { status: 503, text: '' }, 'cut', {
      text: broken,
    })
    assert.equal((await readRecords(open())).length, 80)
  })
})

const fresh = () => ({ resume: undefined, signal: new AbortController().signal })

describe('repairJson', () => {
  test('repairs what Bitly sends', () => {
    const text = readFileSync(importFixture('bitly/bitlinks-invalid-json.txt'), 'utf8')
    assert.throws(() => JSON.parse(text))
    const [link] = JSON.parse(repairJson(text)).links
    assert.equal(link.title, 'line\none "quoted"')
    assert.equal(link.long_url, 'https://example.com/bad\\path')
  })

  const repaired: [string, unknown][] = [
    ['{"a": "tab\there"}', { a: 'tab\there' }],
    ['["\\u00e9 \\n \\"x\\" \\q"]', ['é \n "x" \\q']],
    ['{"a": "", "b": "x"y, z", "c": null}', { a: '', b: 'x"y, z', c: null }],
    ['{"a": "ends with "quotes""}', { a: 'ends with "quotes"' }],
  ]
  for (const [text, value] of repaired) {
    test(`repairs ${JSON.stringify(text)}`, () => {
      assert.deepEqual(JSON.parse(repairJson(text)), value)
    })
  }

  test('leaves the meaning of JSON as it is', () => {
    // Texts with `",` and the like are ambiguous only where JSON is broken; escaped quotes stay.
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        assert.deepEqual(JSON.parse(repairJson(text)), JSON.parse(text))
      }),
      cases(300),
    )
  })
})
