import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertResumes, readRecords, readSorted } from '../../../../test/support/import-sources.ts'
import { assertTruth } from '../../../../test/support/import-truth.ts'
import {
  apiDeps,
  readFixture,
  type SourceApi,
  startSourceApi,
} from '../../../../test/support/source-api.ts'
import { openRebrandly } from './rebrandly-source.ts'

type Listed = { readonly id: string }

describe('the Rebrandly API source', () => {
  const deps = apiDeps()
  const all = [1, 2, 3].flatMap((page) => readFixture(`rebrandly/links-${page}.json`) as Listed[])
  let links = all
  let api: SourceApi

  before(async () => {
    api = await startSourceApi(({ path, query, headers }) => {
      if (headers.apikey !== 'key') return { status: 401, json: {} }
      if (path === '/links/count') return { json: { count: links.length } }
      const last = query.get('last')
      const start = last === null ? 0 : links.findIndex(({ id }) => id === last) + 1
      return { json: links.slice(start, start + Number(query.get('limit'))) }
    })
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  const open = () => openRebrandly({ kind: 'rebrandly', token: 'key', url: api.url }, deps)

  test('gives the links of the truth', async () => {
    const read = await readSorted(open())
    assertTruth('rebrandly', read.links)
    assert.deepEqual(read.links.find(({ key }) => key === '🎉')?.tags, ['日本', 'a,b'])
    assert.deepEqual([read.clicks, read.counts, read.refused], [[], [], []])
    assert.equal(await open().countLinks(new AbortController().signal), 60)
    assert.equal(api.requests.filter(({ query }) => query.has('last')).length, 4)
  })

  test('resumes after any record', async () => {
    await assertResumes(open())
  })

  test('closes a link whose status it does not know', async () => {
    links = all.slice(0, 2).map((link, index) => (index === 0 ? { ...link, status: 'off' } : link))
    const [first, second] = (await readSorted(open())).links
    assert.equal(first?.closed, 'Its status at Rebrandly is "off".')
    assert.equal(second?.closed, null)
    links = all
  })

  test('reads on after a limit, a failure, a cut connection and broken JSON', async () => {
    api.faults.push({ status: 429, json: {} }, { status: 502, text: '' }, 'cut', { text: '[{"id"' })
    assert.equal((await readRecords(open())).length, 60)
  })
})
