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
import type { LinkRecord } from '../../import-source.ts'
import { openDub } from './dub-source.ts'

type Listed = { readonly id: string }

describe('the Dub API source', () => {
  const deps = apiDeps()
  const all = [1, 2, 3].flatMap((page) => readFixture(`dub/links-${page}.json`) as Listed[])
  let links: Listed[]
  let api: SourceApi
  const pageSize = 25

  before(async () => {
    api = await startSourceApi(({ path, query, headers }) => {
      if (headers.authorization !== 'Bearer dub_token') return { status: 401, json: {} }
      if (path === '/links/count') return { json: links.length }
      const after = query.get('startingAfter')
      const start = after === null ? 0 : links.findIndex(({ id }) => id === after) + 1
      // Like Dub's database, which finds nothing after a link that has gone.
      if (after !== null && start === 0) return { json: [] }
      assert.equal(query.get('showArchived'), 'true')
      return { json: links.slice(start, start + pageSize) }
    })
  })
  beforeEach(() => {
    links = [...all]
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  const open = () => openDub({ kind: 'dub', token: 'dub_token', url: api.url }, deps)

  test('gives the links of the truth', async () => {
    const read = await readSorted(open())
    assertTruth('dub', read.links, {
      quirks: (row) => ({
        ...row,
        // `_root` is Dub's name for the domain's own page.
        key: row.key === '_root' ? '' : row.key,
      }),
    })
    assert.deepEqual([read.clicks, read.counts, read.refused], [[], [], []])
    assert.equal(await open().countLinks(new AbortController().signal), 60)
  })

  test('keeps what has no field, and takes what has one', async () => {
    const { links: read } = await readSorted(open())
    const byKey = (key: string) => read.find((link) => link.key === key) as LinkRecord
    assert.deepEqual(byKey('x27if').protection, { kind: 'password', password: 'plain-pass-33' })
    assert.equal(byKey('x27if').rest.externalId, 'crm-33')
    assert.equal(byKey('xumn').external_id, 1025)
    assert.equal(byKey('xumn').rest.externalId, undefined)
    const { rules, rest, notes } = byKey('frag')
    assert.deepEqual(rules, [
      { id: 'de', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } },
      { id: 'jp', when: { country: ['JP'] }, then: { url: 'https://example.com/jp' } },
    ])
    assert.deepEqual([rest.geo, notes], [undefined, []])
    assert.equal(read.filter(({ options }) => options.notes === 'a comment').length, 7)
    assert.equal(byKey('x2dme').closed, 'It is disabled at Dub.')
    const device = byKey('spring-sale-2026')
    assert.equal(device.ios, 'https://apps.example.com/ios')
    assert.equal(device.android, 'https://play.example.com/android')
    assert.deepEqual(byKey('readme').tags, ['news', 'spring sale'])
    assert.equal(byKey('x1vah').expired_redirect_url, 'https://example.com/over')
    const utm = byKey('utm')
    assert.match(utm.url, /utm_source=news/)
    assert.deepEqual([utm.utm_source, utm.rest.utm_source], [null, undefined])
    assert.doesNotMatch(JSON.stringify(read.map(({ rest }) => rest)), /plain-pass/)
  })

  test('resumes after any record', async () => {
    await assertResumes(open())
  })

  test('loses no link when the last one of a page is deleted before the next page is read', async () => {
    const seen = new Set<string>()
    for await (const record of open().read({
      resume: undefined,
      signal: new AbortController().signal,
    })) {
      if (record.kind === 'link') seen.add(record.ref)
      if (seen.size === pageSize) links = all.filter(({ id }) => id !== all[pageSize - 1]?.id)
    }
    assert.equal(seen.size, all.length)
  })

  test('reports a link that it cannot read without its password, and reads on', async () => {
    links = [{ id: 'link_1', password: 'plain-pass', key: 7 } as Listed, ...all.slice(0, 2)]
    const [refused, ...rest] = await readRecords(open())
    assert.ok(refused?.kind === 'refused')
    assert.match(refused.reason, /^Its domain is missing/)
    assert.match(refused.row, /"password":"…"/)
    assert.equal(rest.length, 2)
  })

  test('reads on after a limit, a failure, a cut connection and broken JSON', async () => {
    api.faults.push(
      { status: 429, json: {}, headers: { 'retry-after': '60' } },
      { status: 500, text: 'error' },
      'cut',
      { text: '[{"id": "link_1", "title": "a"b"}]' },
    )
    assert.equal((await readRecords(open())).length, 60)
  })
})
