import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import {
  assertResumes,
  formatSecond,
  importFixture,
  readRecords,
  readSorted,
  readTruth,
} from '../../../test/support/import-sources.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { ImportSourceFault } from '../import-source.ts'
import { openSink } from './sink.ts'

const TRUTH = readTruth(importFixture('sink/truth.csv'))
const MADE_AT = Date.parse('2026-11-22') * 1_000

const open = (file: string) => openSink({ kind: 'sink', file, timeZone: 'UTC' })
const fixture = (name: string) => open(importFixture(`sink/${name}`))

function openText(t: TestContext, text: string) {
  const file = path.join(temporaryFolder(t), 'sink.json')
  writeFileSync(file, text)
  return open(file)
}

describe("Sink's export", () => {
  for (const name of ['export-all.json', 'backup.json'])
    test(`has every link of truth.csv in ${name}`, async () => {
      const { links, refused } = await readSorted(fixture(name))
      assert.deepEqual(refused, [])
      const found = links.map(({ key, url, created_at, expires_at, protection }) => {
        const isOpen = protection.kind === 'none'
        const isExpired = expires_at !== null && Number(expires_at) < MADE_AT
        const state = isExpired ? 'expired' : isOpen ? 'active' : 'protected'
        return [key, url, formatSecond(created_at), state]
      })
      const expected = TRUTH.map(({ key, url, created_at, state }) => [key, url, created_at, state])
      assert.deepEqual(found.sort(), expected.sort())
    })

  test('is the same in the database', async () => {
    const contentOf = async (name: string) => {
      const { links, refused } = await readSorted(fixture(name))
      assert.deepEqual(refused, [])
      const contents = links.map(({ resume: _resume, place: _place, ...link }) => link)
      return contents.sort((a, b) => (a.key < b.key ? -1 : 1))
    }
    assert.deepEqual(await contentOf('d1.sqlite'), await contentOf('export-all.json'))
    await assertResumes(fixture('d1.sqlite'))
  })

  test('has expiry dates, tags and destinations of devices', async () => {
    const { links } = await readSorted(fixture('export-all.json'))
    for (const { key, note } of TRUTH) {
      const link = links.find((one) => one.key === key)
      const expires = /expires=(\S+)/.exec(note)?.[1] ?? ''
      assert.equal(formatSecond(link?.expires_at ?? null), expires, key)
      const tags = /tags=(.+)$/.exec(note)?.[1]?.split('|') ?? []
      assert.deepEqual(link?.tags, tags, key)
    }
    const devices = links.find(({ key }) => key === 'devices')
    assert.ok(devices?.ios?.startsWith('https://') && devices.android?.startsWith('https://'))
  })

  test('locks each link with a password, and keeps nothing of the password', async () => {
    const text = readFileSync(importFixture('sink/export-all.json'), 'utf8')
    const { links: exported } = JSON.parse(text) as { links: { slug: string; password?: string }[] }
    const { links } = await readSorted(fixture('export-all.json'))
    const protectedKeys = exported
      .filter(({ password }) => password !== undefined)
      .map(({ slug }) => slug)
    assert.ok(protectedKeys.length > 3)
    const locked = links.filter(({ protection }) => protection.kind === 'unknown password')
    assert.deepEqual(
      locked.map(({ key }) => key),
      protectedKeys,
    )
    const read = JSON.stringify(links)
    for (const { password } of exported)
      if (password !== undefined) assert.ok(!read.includes(password.slice(-3 - 1)))
  })

  test('passes unsafe destinations on, for the importer to refuse', async () => {
    const { links } = await readSorted(fixture('export-all.json'))
    assert.ok(links.some(({ url }) => url.startsWith('javascript:')))
    assert.ok(links.some(({ url }) => url.startsWith('data:')))
  })

  test('keeps what has no field, and notes what visitors will miss', async () => {
    const { links } = await readSorted(fixture('export-all.json'))
    const linkOf = (name: string) => links.find(({ key }) => key === name)
    assert.ok((linkOf('geo')?.rules.length ?? 0) > 0)
    assert.equal(linkOf('geo')?.rest.geo, undefined)
    assert.equal(linkOf('cloaked')?.rest.cloaking, true)
    assert.equal(linkOf('no-query')?.options.query, 'drop')
    for (const key of ['cloaked', 'unsafe']) assert.equal(linkOf(key)?.notes.length, 1, key)
    assert.deepEqual(linkOf('plain')?.notes, [])
  })

  test('has different refs for keys that are too long to be refs', async () => {
    const { links } = await readSorted(fixture('export-all.json'))
    assert.ok(links.every(({ ref }) => ref.length <= 500))
    assert.equal(new Set(links.map(({ ref }) => ref)).size, links.length)
  })

  test('is read from any record on', () => assertResumes(fixture('export-all.json'), 20))

  test('is recognised as one page of several', async () => {
    const { links, refused } = await readSorted(fixture('api/export-1.json'))
    assert.equal(links.length, 50)
    assert.match(refused[0]?.reason ?? '', /one page/)
    const last = await readSorted(fixture('api/export-2.json'))
    assert.equal(last.links.length, 22)
    assert.deepEqual(last.refused, [])
    await assertResumes(fixture('api/export-1.json'), 3)
  })
})

describe('a damaged export of Sink', () => {
  const good = { slug: 'a', url: 'https://a.example/', tags: [], createdAt: 1_700_000_000 }
  const CASES: { name: string; item: string; reason: RegExp }[] = [
    { name: 'no JSON', item: '{"slug":}', reason: /no valid JSON/ },
    { name: 'no object', item: '["a"]', reason: /no object/ },
    { name: 'no slug', item: '{"url":"https://a.example/"}', reason: /slug/ },
    { name: 'an address that is a number', item: '{"slug":"b","url":1}', reason: /url/ },
    { name: 'tags that are no list', item: JSON.stringify({ ...good, tags: 'x' }), reason: /tags/ },
    {
      name: 'an expiry that is a text',
      item: JSON.stringify({ ...good, expiration: 'soon' }),
      reason: /expiration/,
    },
  ]
  for (const { name, item, reason } of CASES)
    test(`has a refused item for ${name}, and the items around it`, async (t) => {
      const one = JSON.stringify(good)
      const source = openText(t, `{"version":"1.0","count":3,"links":[${one},${item},${one}]}`)
      const { links, refused } = await readSorted(source)
      assert.equal(links.length, 2)
      assert.deepEqual(
        refused.map(({ place }) => place),
        ['item 2'],
      )
      assert.match(refused[0]?.reason ?? '', reason)
      assert.equal(refused[0]?.row, item)
    })

  test('shows no password of a refused item', async (t) => {
    const item = JSON.stringify({ ...good, url: 1, password: 'sink-pwd:v1:10000:x:y:et!' })
    const { refused } = await readSorted(openText(t, `[${item}]`))
    assert.ok(refused[0]?.row.includes('"password":"…"'))
    assert.ok(!refused[0]?.row.includes('et!'))
  })

  test('locks a link whose password is only shown masked', async (t) => {
    const item = JSON.stringify({ ...good, password: '__SINK_MASKED__•••et!' })
    const { links } = await readSorted(openText(t, `[${item}]`))
    assert.deepEqual(links[0]?.protection, { kind: 'unknown password' })
  })

  test('says when it has fewer links than it says', async (t) => {
    const { refused } = await readSorted(
      openText(t, `{"count":5,"links":[${JSON.stringify(good)}]}`),
    )
    assert.match(refused[0]?.reason ?? '', /5 links, and has 1/)
  })

  test('throws when it ends early, after the links that are complete', async (t) => {
    const text = readFileSync(importFixture('sink/export-all.json'), 'utf8')
    const source = openText(t, text.slice(0, 10_000))
    const records: unknown[] = []
    const reading = (async () => {
      const { signal } = new AbortController()
      for await (const record of source.read({ resume: undefined, signal })) records.push(record)
    })()
    await assert.rejects(
      reading,
      (error) => error instanceof ImportSourceFault && /incomplete/.test(error.message),
    )
    assert.ok(records.length > 5)
  })

  test('throws when it is no export of Sink', async (t) => {
    const reading = readRecords(openText(t, '{"data":[]}'))
    await assert.rejects(
      reading,
      (error) => error instanceof ImportSourceFault && /no list "links"/.test(error.message),
    )
  })
})
