import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { assertResumes, readRecords, readSorted } from '../../../../test/support/import-sources.ts'
import { assertTruth } from '../../../../test/support/import-truth.ts'
import {
  type ApiAnswer,
  type ApiRequest,
  apiDeps,
  assertResumesAtPages,
  readFixture,
  type SourceApi,
  startSourceApi,
} from '../../../../test/support/source-api.ts'
import type { LinkRecord } from '../../import-source.ts'
import { openShlink } from './shlink-source.ts'

type Listed = {
  readonly shortCode: string
  readonly domain: string | null
  readonly dateCreated: string
  readonly meta: object
  readonly visitsSummary: object
}
type Page = { readonly shortUrls: { readonly data: Listed[] } }
type Visit = { readonly date: string; readonly potentialBot: boolean }
type Visits = { readonly visits: { readonly data: Visit[] } }

const VISITS: Record<string, string[]> = {
  plain: ['plain-1', 'plain-2'],
  'spring-sale-2026': ['3'],
  under_score: ['4'],
  日本語: ['8'],
  x3ke7: ['41'],
}
const RULES: Record<string, string> = { 'spring-sale-2026': '3', frag: '10', creds: '11' }

describe('the Shlink API source', () => {
  const deps = apiDeps()
  const all = [1, 2].flatMap(
    (page) => (readFixture(`shlink/short-urls-${page}.json`) as Page).shortUrls.data,
  )
  let links: Listed[]
  /** Visits that come while the source is read. */
  let newVisits: Visit[]
  let api: SourceApi

  before(async () => {
    api = await startSourceApi(answer)
  })
  beforeEach(() => {
    links = [...all]
    newVisits = []
    api.requests.length = 0
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  function answer({ path, query, headers }: ApiRequest): ApiAnswer {
    if (headers['x-api-key'] !== 'key') return { status: 401, json: { title: 'Invalid API key' } }
    const [, shortCode = '', what] =
      /^\/rest\/v3\/short-urls(?:\/(.+)\/(visits|redirect-rules))?$/.exec(path) ?? []
    if (what === 'redirect-rules') {
      return { json: readFixture(`shlink/redirect-rules-${RULES[shortCode]}.json`) }
    }
    const size = Number(query.get('itemsPerPage'))
    const start = (Number(query.get('page')) - 1) * size
    if (what === 'visits') {
      const link = links.find((listed) => listed.shortCode === shortCode)
      if (link === undefined) return { status: 404, json: {} }
      assert.equal(query.get('domain'), link.domain)
      const until = Date.parse(query.get('endDate') ?? '')
      const visits = (VISITS[shortCode] ?? []).flatMap(
        (name) => (readFixture(`shlink/visits-${name}.json`) as Visits).visits.data,
      )
      const shown = [...newVisits, ...visits].filter(({ date }) => Date.parse(date) <= until)
      return { json: { visits: pageOf(shown, start, size) } }
    }
    assert.equal(query.get('orderBy'), 'dateCreated-ASC')
    const instantOf = (link: Listed) => Date.parse(link.dateCreated)
    const sorted = links.toSorted((a, b) => instantOf(a) - instantOf(b))
    return { json: { shortUrls: pageOf(sorted, start, size) } }
  }

  const open = () =>
    openShlink({ kind: 'shlink', url: api.url, token: 'key', timeZone: 'UTC' }, deps)

  test('gives the links of the truth, and each visit', async () => {
    const read = await readSorted(open())
    assertTruth('shlink', read.links, {
      ownHost: 's.example.com',
      quirks: (row) => {
        // The list of short URLs has no instant of the last visit.
        const known = { ...row, last_click: '' }
        return row.note.startsWith('maxVisits=5') ? { ...known, state: 'disabled' } : known
      },
    })
    assert.equal(read.clicks.filter(({ ref }) => ref === '/plain').length, 315)
    assert.equal(read.clicks.filter(({ ref, is_bot }) => ref === '/plain' && is_bot).length, 31)
    assert.equal(read.clicks.filter(({ ref }) => ref === 'go.example.com/under_score').length, 22)
    assert.ok(read.clicks.some(({ country }) => country === 'DE'))
    assert.ok(read.clicks.every(({ user_agent }) => user_agent !== ''))
    assert.deepEqual([read.counts, read.refused], [[], []])
    assert.equal(await open().countLinks(new AbortController().signal), 60)
  })

  test('takes rules and options, keeps the others, and closes what does not redirect', async () => {
    const { links: read } = await readSorted(open())
    const byKey = (key: string) => read.find((link) => link.key === key) as LinkRecord
    const device = byKey('spring-sale-2026')
    assert.deepEqual(
      [device.ios, device.android, device.rest.redirectRules, device.notes],
      ['https://apps.example.com/ios', 'https://play.example.com/android', undefined, []],
    )
    assert.deepEqual(byKey('creds').rules, [
      {
        id: 'shlink-1',
        when: { time: [{ until: '2026-11-23T08:30:00+00:00' }] },
        then: { url: 'https://example.com/old' },
      },
      { id: 'shlink-2', when: { country: ['JP'] }, then: { url: 'https://example.com/jp' } },
      {
        id: 'shlink-3',
        when: {
          ...{ browser: ['firefox'], city: ['Stadt'] },
          time: [{ from: '2023-11-23T06:15:42+00:00' }],
          query: [{ name: 'promo', present: true }],
          any: [{ query: [{ name: 'print', equals: '' }] }],
        },
        then: { url: 'https://example.com/any' },
      },
    ])
    assert.deepEqual([byKey('creds').rest.redirectRules, byKey('creds').notes], [undefined, []])
    assert.deepEqual(byKey('frag').rules, [
      {
        id: 'shlink-1',
        when: { language: ['de-AT'], query: [{ name: 'ref', equals: 'x' }] },
        then: { url: 'https://example.com/de' },
      },
      {
        id: 'shlink-2',
        when: { address: ['192.0.2.0/24'] },
        then: { url: 'https://example.com/office' },
      },
    ])
    assert.equal(byKey('x27if').closed, 'It reached its limit of 5 visits at Shlink.')
    assert.deepEqual(
      [byKey('xumn').closed, byKey('xumn').options.active_from],
      [null, '2026-12-22T08:30:00.000000Z'],
    )
    assert.equal(byKey('x2dme').closed, null)
    assert.equal(byKey('x2dme').options.max_clicks, 100_000)
    assert.deepEqual(byKey('x2dme').notes, [])
    assert.equal(byKey('x10qm').closed, null)
    assert.equal(byKey('x5rtu').options.query, 'drop')
  })

  test('resumes after any record', async () => {
    await assertResumes(open(), 10)
    await assertResumesAtPages(open)
  })

  test('resumes among visits, and counts none that came since', async () => {
    const whole = await readRecords(open())
    const at = whole.findIndex((record) => record.kind === 'click') + 302
    newVisits = [{ date: '2026-12-01T00:00:00+00:00', potentialBot: false }]
    const requests = api.requests.length
    assert.deepEqual(await readRecords(open(), whole[at]?.resume), whole.slice(at + 1))
    const pages = api.requests
      .slice(requests)
      .filter(({ path }) => path.endsWith('/plain/visits'))
      .map(({ query }) => query.get('page'))
    assert.deepEqual(pages, ['2'])
  })

  test('goes on when a link is deleted while its visits are read', async () => {
    const { links: read } = await readSorted(open())
    const source = open().read({ resume: undefined, signal: new AbortController().signal })
    let count = 0
    for await (const record of source) {
      if (record.kind === 'link') count += 1
      if (record.kind === 'link' && record.key === 'plain') {
        links = links.filter(({ shortCode }) => shortCode !== 'plain')
      }
    }
    assert.equal(count, read.length)
  })

  test('reads on after a limit, a failure, a cut connection and broken JSON', async () => {
    api.faults.push({ status: 429, json: {} }, { status: 500, text: '' }, 'cut', { text: '<html>' })
    assert.equal((await readSorted(open())).links.length, 60)
  })
})

function pageOf<Item>(items: readonly Item[], start: number, size: number) {
  return {
    data: items.slice(start, start + size),
    pagination: {
      currentPage: start / size + 1,
      pagesCount: Math.ceil(items.length / size),
      itemsPerPage: size,
      totalItems: items.length,
    },
  }
}
