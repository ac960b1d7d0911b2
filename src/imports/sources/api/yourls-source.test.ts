import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { assertResumes, readRecords, readSorted } from '../../../../test/support/import-sources.ts'
import { assertTruth } from '../../../../test/support/import-truth.ts'
import {
  apiDeps,
  readFixture,
  type SourceApi,
  startSourceApi,
} from '../../../../test/support/source-api.ts'
import { ImportSourceFault } from '../../import-source.ts'
import { openYourls } from './yourls-source.ts'

type Listed = { readonly shorturl: string; readonly timestamp: string; readonly clicks: number }
type Stats = { readonly links: Record<string, Listed>; readonly stats: unknown }

describe('the YOURLS API source', () => {
  const deps = apiDeps()
  const pages = [1, 2, 3].map((page) => readFixture(`yourls/api/stats-last-${page}.json`) as Stats)
  const all = pages.flatMap(({ links }) => Object.values(links))
  let links: Listed[]
  let api: SourceApi

  before(async () => {
    api = await startSourceApi(({ path, query, form, method }) => {
      assert.deepEqual([method, path, query.size], ['POST', '/s/yourls-api.php', 0])
      if (form.get('signature') !== 'sign') {
        return { status: 403, json: readFixture('yourls/api/error-403.json') }
      }
      if (form.get('action') === 'db-stats')
        return { json: readFixture('yourls/api/db-stats.json') }
      assert.equal(form.get('filter'), 'last')
      const start = Number(form.get('start'))
      const page = links.slice(start, start + Number(form.get('limit')))
      const named = Object.fromEntries(page.map((link, index) => [`link_${index + 1}`, link]))
      const { stats } = pages[0] as Stats
      return { json: page.length === 0 ? { stats } : { links: named, stats } }
    })
  })
  beforeEach(() => {
    links = [...all]
    api.requests.length = 0
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  const open = (token = 'sign') =>
    openYourls({ kind: 'yourls', url: `${api.url}/s/`, token, timeZone: 'UTC' }, deps)
  /** As if the site were in a folder of its host, as the server of this test is. */
  const inFolder = ({ shorturl, ...link }: Listed) => ({
    ...link,
    shorturl: shorturl.replace('yourls.example.com/', 'yourls.example.com/s/'),
  })

  test('gives the links of the truth', async () => {
    links = all.map(inFolder)
    const read = await readSorted(open())
    assertTruth('yourls', read.links, {
      ownHost: 'yourls.example.com',
      // The API has totals of clicks, and no single ones.
      quirks: (row) => ({ ...row, last_click: '' }),
    })
    assert.deepEqual([read.clicks, read.counts, read.refused], [[], [], []])
    assert.equal(await open().countLinks(new AbortController().signal), 67)
  })

  test('keeps titles that are not the destination, and no address of a person', async () => {
    links = all.map(inFolder)
    const { links: read } = await readSorted(open())
    assert.equal(read.find(({ key }) => key === 'plain')?.options.notes, 'Plain title')
    assert.equal(read.find(({ key }) => key === 'utm')?.options.notes, undefined)
    assert.ok(read.every(({ rest }) => rest.ip === undefined))
  })

  test('takes clicks that are text', async () => {
    links = all.slice(0, 2).map((link) => ({ ...inFolder(link), clicks: '11' as never }))
    assert.deepEqual(
      (await readSorted(open())).links.map(({ clicks }) => clicks),
      [11, 11],
    )
  })

  test('reads each of many links of the same second once, and resumes among them', async () => {
    const many = Array.from({ length: 1_300 }, (_, index) => ({
      ...inFolder(all[0] as Listed),
      shorturl: `http://yourls.example.com/s/key${index}`,
      timestamp: index < 400 ? '2026-01-02 00:00:00' : '2026-01-01 00:00:00',
    }))
    links = many
    const read = await readRecords(open())
    assert.equal(new Set(read.map((record) => 'ref' in record && record.ref)).size, 1_300)
    assert.equal(read.length, 1_300)
    const rest = await readRecords(open(), read[1_000]?.resume)
    assert.deepEqual(rest, read.slice(1_001))
  })

  test('reports what is not below the address of the site', async () => {
    const { refused } = await readSorted(open())
    assert.equal(refused.length, 67)
    assert.ok(refused.every(({ row }) => !/"ip":"[^…]/.test(row)))
  })

  test('resumes after any record', async () => {
    links = all.map(inFolder)
    await assertResumes(open())
  })

  test('fails when the signature is wrong, and does not repeat it', async () => {
    await assert.rejects(readRecords(open('wrong-signature')), (error) => {
      assert.ok(error instanceof ImportSourceFault && !error.isTransient)
      assert.match(error.message, /refused the token/)
      assert.doesNotMatch(error.message, /wrong-signature/)
      return true
    })
  })

  test('reads on after a limit, a failure, a cut connection and broken JSON', async () => {
    links = all.map(inFolder)
    api.faults.push({ status: 429, json: {} }, { status: 503, text: '' }, 'cut', { text: '<html>' })
    assert.equal((await readRecords(open())).length, 67)
  })
})
