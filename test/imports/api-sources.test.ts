import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ReportRow } from '../../src/imports/import.ts'
import { openBitly } from '../../src/imports/sources/api/bitly-source.ts'
import { openDub } from '../../src/imports/sources/api/dub-source.ts'
import { openKutt } from '../../src/imports/sources/api/kutt-source.ts'
import { importFixture, readTruth } from '../support/import-sources.ts'
import {
  type ApiAnswer,
  type ApiRequest,
  apiDeps,
  readFixture,
  type SourceApi,
  startSourceApi,
} from '../support/source-api.ts'
import { describeStore } from '../support/store.ts'
import { importServices } from './import-services.ts'

type Listed = { readonly id: string }
type Page = { readonly data: Listed[] }

/** When the data of the fixtures were made. */
const MADE_AT = '2026-11-22T09:00:00.000000Z'
const GROUPS = { groups: [{ guid: 'Bexample0001' }] }
const dubLinks = [1, 2, 3].flatMap((page) => readFixture(`dub/links-${page}.json`) as Listed[])
const kuttLinks = [1, 2].flatMap(
  (page) => (readFixture(`kutt/api/links-${page}.json`) as Page).data,
)

/** Answers as Dub, Kutt and Bitly do, by the paths of their APIs. */
function answer({ path, query }: ApiRequest): ApiAnswer {
  if (path === '/links') {
    const start = dubLinks.findIndex(({ id }) => id === query.get('startingAfter')) + 1
    return { json: dubLinks.slice(start, start + 25) }
  }
  if (path === '/api/v2/links') {
    const skip = Number(query.get('skip'))
    const data = kuttLinks.slice(skip, skip + Number(query.get('limit')))
    return { json: { total: kuttLinks.length, data } }
  }
  if (path === '/groups') return { json: GROUPS }
  if (path.endsWith('/bitlinks')) {
    return { json: readFixture(`bitly/bitlinks-${query.has('search_after') ? 2 : 1}.json`) }
  }
  return { status: 402, json: {} }
}

describeStore('an import from an API', (at) => {
  const deps = apiDeps()
  let api: SourceApi

  before(async () => {
    api = await startSourceApi(answer)
  })
  after(async () => {
    deps.close()
    await api.close()
  })

  const SOURCES = [
    {
      service: 'dub',
      open: () => openDub({ kind: 'dub', token: 't', url: api.url }, deps),
      refused: ['go.example.com/', 'deeplink', 'creds'],
    },
    {
      service: 'kutt',
      open: () => openKutt({ kind: 'kutt', token: 't', url: api.url, timeZone: 'UTC' }, deps),
      refused: ['creds', 'deeplink', 'ftp', 'magnet'],
    },
    {
      service: 'bitly',
      open: () => openBitly({ kind: 'bitly', token: 't', url: api.url }, deps),
      // bit.ly/3nolong has no destination, and so no key in the report.
      refused: ['', '32xsl', 'deeplink'],
    },
  ]
  for (const { service, open, refused } of SOURCES) {
    test(`of ${service} opens no closed link, and changes nothing when it runs again`, async () => {
      const { importAll, linksByKey, host } = await importServices(at)
      // Each domain of the source goes to one of this test's own.
      const names = [
        '',
        ...new Set(readTruth(importFixture(`${service}/truth.csv`)).map((row) => row.domain)),
      ]
      const domains = Object.fromEntries(names.map((name, index) => [name, `d${index}.${host}`]))
      const { ended, rows } = await importAll(open(), { options: { domains } })
      assert.equal(ended.status, 'succeeded', ended.fault ?? '')
      const notTaken = rows.filter(({ outcome }) => outcome === 'refused')
      assert.deepEqual(notTaken.map(keyOf).sort(), refused.toSorted())
      assert.ok(notTaken.every(({ reason }) => /^\S.*\.$/.test(reason)))

      const found = await linksByKey()
      for (const { key, state } of readTruth(importFixture(`${service}/truth.csv`))) {
        const link = found.get(key)
        if (state === 'active' || link === undefined) continue
        const isOpen = link.password === null && (link.expires_at ?? '9') > MADE_AT
        assert.ok(!isOpen, `${key} is ${state}`)
      }
      const second = await importAll(open(), { options: { domains } })
      assert.equal(second.ended.counts.created, 0)
      assert.deepEqual(await linksByKey(), found)
    })
  }
})

function keyOf({ old_link }: ReportRow): string {
  return old_link.endsWith('/') ? old_link : (old_link.split('/').at(-1) ?? '')
}
