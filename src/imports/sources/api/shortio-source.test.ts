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
import { ImportSourceFault, type LinkRecord } from '../../import-source.ts'
import { openShortIo } from './shortio-source.ts'

type Page = { readonly links: readonly Record<string, unknown>[]; readonly nextPageToken: unknown }

describe('the Short.io API source', () => {
  const deps = apiDeps()
  const pages = [1, 2].map((page) => readFixture(`shortio/links-${page}.json`) as Page)
  const extra = {
    id: 'lnk_other',
    path: 'limited',
    originalURL: 'https://example.com/',
    createdAt: 0,
  }
  let api: SourceApi
  let hasStatistics: boolean

  before(async () => {
    api = await startSourceApi(answer)
  })
  beforeEach(() => {
    hasStatistics = true
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  function answer({ path, query, headers }: ApiRequest): ApiAnswer {
    if (headers.authorization !== 'key') return { status: 401, json: {} }
    if (path === '/api/domains') {
      return {
        json: [
          { id: 12345, hostname: 's.example.com' },
          { id: 9, hostname: 'other.example.com' },
        ],
      }
    }
    if (path === '/api/links' && query.get('domain_id') === '9') {
      return { json: { links: [{ ...extra, clicksLimit: 5 }], nextPageToken: null } }
    }
    if (path === '/api/links') return { json: pages[query.get('pageToken') === 'tok1' ? 1 : 0] }
    if (path.startsWith('/statistics/domain/')) {
      return hasStatistics
        ? { json: { lnk_example_39: 12, lnk_other: '5' } }
        : { status: 402, json: {} }
    }
    if (path === '/link_country/lnk_example_39') {
      return { json: [{ country: 'DE', originalURL: 'https://example.com/de' }] }
    }
    if (path === '/link_region/lnk_example_39') {
      return { json: [{ country: 'US', region: 'CA', originalURL: 'https://example.com/ca' }] }
    }
    if (path === '/links/opengraph/12345/lnk_example_39') {
      const image = ['image', 'https://example.com/og.png']
      return { json: [['title', 'A title'], ['twitter:card', 'summary'], image] }
    }
    return /^\/link_(country|region)\//.test(path) ? { json: [] } : { status: 404, json: {} }
  }

  const open = (domains?: readonly string[]) =>
    openShortIo({ kind: 'shortio', token: 'key', url: api.url, domains }, deps)

  test('gives the links of the truth', async () => {
    hasStatistics = false
    const read = await readSorted(open(['S.example.com']))
    const [root, ...others] = read.links.toReversed()
    assertTruth('shortio', others.toReversed())
    // The page of the domain itself is not in the truth.
    assert.deepEqual([root?.key, root?.url], ['', 'https://example.com/root'])
    assert.deepEqual([read.clicks, read.counts, read.refused], [[], [], []])
    const unexplained = read.links.filter(
      ({ notes }) => !notes.includes('Short.io gave no clicks for this link.'),
    )
    assert.deepEqual(unexplained, [])
  })

  test('keeps what has no field, and takes what has one', async () => {
    const { links } = await readSorted(open())
    const byKey = (key: string) => links.find((link) => link.key === key) as LinkRecord
    assert.deepEqual(byKey('x27if').protection, { kind: 'unknown password' })
    assert.equal(byKey('utm').utm_source, 'news')
    assert.equal(byKey('x1vah').expired_redirect_url, 'https://example.com/over')
    const device = byKey('x3869')
    assert.deepEqual(
      device.rules.map(({ when, then }) => [when, then.url]),
      [
        [{ os: ['ios'] }, 'https://apps.example.com/ios'],
        [{ os: ['android'] }, 'https://play.example.com/android'],
        [{ region: ['US-CA'] }, 'https://example.com/ca'],
        [{ country: ['DE'] }, 'https://example.com/de'],
      ],
    )
    assert.deepEqual([device.ios, device.android, device.clicks], [null, null, 12])
    const { title, image } = device.options
    assert.deepEqual([title, image], ['A title', 'https://example.com/og.png'])
    assert.equal(device.rest['og:twitter:card'], 'summary')
    assert.deepEqual([device.rest.countries, device.rest.regions], [undefined, undefined])
    assert.match(device.notes.join(), /here it is the device/)
    assert.equal(byKey('plain').clicks, 0)
    assert.equal(byKey('limited').domain, 'other.example.com')
    assert.equal(byKey('limited').closed, 'It reached its limit of 5 clicks.')
    assert.deepEqual(byKey('limited').options, { max_clicks: 5 })
  })

  test('closes a link with a limit whose clicks it cannot learn', async () => {
    hasStatistics = false
    const { links } = await readSorted(open(['other.example.com']))
    assert.match(links[0]?.closed ?? '', /limit of 5 clicks, and its clicks are unknown/)
  })

  test('refuses a domain that the token does not have', async () => {
    await assert.rejects(readRecords(open(['no.example.com'])), ImportSourceFault)
  })

  test('resumes after any record', async () => {
    await assertResumes(open(), 12)
    await assertResumesAtPages(open)
  })

  test('reads on after a limit, a failure, a cut connection and broken JSON', async () => {
    api.faults.push({ status: 429, json: {} }, { status: 502, text: '' }, 'cut', { text: '[{"id"' })
    assert.equal((await readRecords(open(['other.example.com']))).length, 1)
  })
})
