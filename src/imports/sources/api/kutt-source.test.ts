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
import { openKutt } from './kutt-source.ts'

type Listed = { readonly id: string; readonly address: string }
type Page = { readonly data: Listed[] }

describe('the Kutt API source', () => {
  const deps = apiDeps()
  const pages = [1, 2].map((page) => readFixture(`kutt/api/links-${page}.json`) as Page)
  const all = pages.flatMap(({ data }) => data)
  let links: Listed[]
  let api: SourceApi

  before(async () => {
    api = await startSourceApi(({ path, query, headers }) => {
      if (headers['x-api-key'] !== 'key') {
        return { status: 401, json: readFixture('kutt/api/error-401.json') }
      }
      assert.equal(path, '/api/v2/links')
      const limit = Math.min(50, Number(query.get('limit')))
      const skip = Number(query.get('skip'))
      return { json: { total: links.length, limit, skip, data: links.slice(skip, skip + limit) } }
    })
  })
  beforeEach(() => {
    links = [...all]
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  const open = () =>
    openKutt({ kind: 'kutt', url: `${api.url}/`, token: 'key', timeZone: 'UTC' }, deps)

  test('gives the links of the truth', async () => {
    const read = await readSorted(open())
    assertTruth('kutt', read.links, {
      ownHost: 'kutt.example.com',
      // The API lists the links of the key's account, and has no instants of visits.
      quirks: (row) => (row.note.includes('user=1') ? { ...row, last_click: '' } : undefined),
    })
    assert.deepEqual([read.clicks, read.counts, read.refused], [[], [], []])
    assert.equal(await open().countLinks(new AbortController().signal), 70)
  })

  test('gives the oldest of several links with the same address first, as Kutt serves it', async () => {
    const { links: read } = await readSorted(open())
    const race = read.filter(({ key }) => key === 'race').map(({ url }) => url)
    assert.deepEqual(
      race,
      [1, 2, 3].map((number) => `https://example.com/race-${number}`),
    )
  })

  test('locks protected links, closes banned ones, and keeps descriptions', async () => {
    const { links: read } = await readSorted(open())
    const byKey = (key: string) => read.find((link) => link.key === key)
    assert.deepEqual(byKey('locked')?.protection, { kind: 'unknown password' })
    assert.equal(byKey('banned1')?.closed, 'It is banned at Kutt.')
    assert.ok(String(byKey('desc-html')?.options.notes).includes('<'))
  })

  test('resumes after any record', async () => {
    await assertResumes(open())
  })

  test('reads each link once while links are created and deleted', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      ...(all[0] as Listed),
      id: `id-${300 - index}`,
      address: `a${index}`,
    }))
    links = many
    const seen: string[] = []
    for await (const record of open().read({
      resume: undefined,
      signal: new AbortController().signal,
    })) {
      if (record.kind === 'link') seen.push(record.ref)
      if (seen.length === 60) links = [{ ...(all[0] as Listed), id: 'new' }, ...many]
      // The last ten that were read, and with them each link by which the place would be known.
      if (seen.length === 140) links = links.filter(({ id }) => !seen.slice(-10).includes(id))
    }
    const missed = many.filter(({ id }) => !seen.includes(id))
    assert.deepEqual(missed, [])
  })

  test('reads on after a limit, a failure, a cut connection and broken JSON', async () => {
    api.faults.push({ status: 429, json: {} }, { status: 500, text: '' }, 'cut', {
      text: '{"total"',
    })
    assert.equal((await readRecords(open())).length, 70)
  })
})
