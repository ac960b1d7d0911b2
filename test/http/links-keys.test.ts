import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, type LinkBody, postLink, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

/** Keys that are accepted and stored unchanged. */
const ACCEPTED = [
  'a',
  '7',
  '-',
  'a-b_c.d~e',
  'spring/sale/2026',
  'été',
  'привет',
  '春のセール',
  'مرحبا',
  'नमस्ते',
  '٣',
  '𐐷𐑌',
  '...',
  '.hidden',
  'a..b',
  'k'.repeat(190),
  '𝒳'.repeat(190),
]

const REFUSED: readonly (readonly [what: string, key: unknown])[] = [
  ['an empty text', ''],
  ['191 characters', 'k'.repeat(191)],
  ['5,000 characters', 'k'.repeat(5_000)],
  ['191 characters beyond the basic plane', '𝒳'.repeat(191)],
  ['a slash at the start', '/a'],
  ['a slash at the end', 'a/'],
  ['an empty segment', 'a//b'],
  ['a slash alone', '/'],
  ['the segment "."', 'a/./b'],
  ['the segment ".."', 'a/../b'],
  ['"." alone', '.'],
  ['".." alone', '..'],
  ['a final ".."', 'a/..'],
  ['a space', 'a b'],
  ['a percent sign', 'a%20b'],
  ['a question mark', 'a?b'],
  ['a number sign', 'a#b'],
  ['a backslash', 'a\\b'],
  ['a colon', 'a:b'],
  ['an at sign', '@a'],
  ['half an emoji', '👩\u200d'],
  ['a line break', 'a\r\nb'],
  ['a null byte', 'a\u0000'],
  ['half a surrogate pair', 'a\ud800'],
  ['a right-to-left override', 'a\u202eb'],
  ['a number', 5],
  ['a list', ['a']],
]

/** First segments that the service itself answers on its own host. */
const RESERVED = [
  'api',
  'app',
  'docs',
  'assets',
  '.well-known',
  'livez',
  'readyz',
  'robots.txt',
  'favicon.ico',
]

onEachEngine('the key of a link', (stage) => {
  let existing: LinkBody
  before(async () => {
    existing = await createLink(stage.api)
  })

  for (const key of ACCEPTED) {
    test(`accepts ${key.length > 20 ? `${key.slice(0, 2)}… of 190 characters` : key}`, async () => {
      const link = await createLink(stage.api, { key })
      assert.equal(link.key, key)
      assert.equal(link.link, `https://localhost/${key}`)
      assert.equal((await showLink(stage.api, link.id)).key, key)
      const visited = await visit(stage.service.port, `/${encodeURI(key)}`)
      assert.equal(visited.headers.location, 'https://example.com/')
    })
  }

  for (const [what, key] of REFUSED) {
    test(`returns 422 for ${what}`, async () => {
      expectInvalid(await postLink(stage.api, { key }), 'key')
      expectInvalid(await stage.api.patch(`/links/${existing.id}`, { key }), 'key')
    })
  }

  test('is stored, measured and compared in Unicode normal form C', async () => {
    const link = await createLink(stage.api, { key: 'cafe\u0301' })
    assert.equal(link.key, 'caf\u00e9')
    expectInvalid(await postLink(stage.api, { key: 'caf\u00e9' }), 'key')
    assert.equal((await createLink(stage.api, { key: 'e\u0301'.repeat(190) })).key.length, 190)
  })

  test('is unique on its domain, for all workspaces on the shared one', async () => {
    await createLink(stage.api, { key: 'unique' })
    expectInvalid(await postLink(stage.api, { key: 'unique' }), 'key')
    expectInvalid(await postLink(await stage.service.api('other'), { key: 'unique' }), 'key')
    await createLink(stage.api, { domain: 'elsewhere.localhost', key: 'unique' })
  })

  test('is unique as typed: keys that differ in letter case coexist', async () => {
    const urls = { Case: 'https://example.com/1', case: 'https://example.com/2' }
    for (const [key, url] of Object.entries(urls)) await createLink(stage.api, { key, url })
    for (const [key, url] of Object.entries(urls)) {
      assert.equal((await visit(stage.service.port, `/${key}`)).headers.location, url)
      expectInvalid(await postLink(stage.api, { key }), 'key')
    }
  })

  test('may be the same on a host that two workspaces claim and neither has proved', async () => {
    const link = { domain: 'contested.example.com', key: 'same' }
    const mine = await createLink(stage.api, link)
    const theirs = await createLink(await stage.service.api('other'), link)
    assert.notEqual(mine.id, theirs.id)
  })

  for (const segment of RESERVED) {
    test(`${segment} is reserved on the service’s own host, and free on others`, async () => {
      for (const key of [segment, segment.toUpperCase(), `${segment}/more`]) {
        expectInvalid(await postLink(stage.api, { key }), 'key')
        await createLink(stage.api, { domain: 'free.localhost', key })
      }
      await createLink(stage.api, { key: `more/${segment}` })
      await createLink(stage.api, { key: `${segment}-more` })
    })
  }

  test('is not one that people take for a page of the service, except on other hosts', async () => {
    for (const key of ['login', 'SW.js', 'apple-touch-icon.png', 'settings/more']) {
      expectInvalid(await postLink(stage.api, { key }), 'key')
      const asked = new URLSearchParams({ domain: 'localhost', key })
      const { body } = expectStatus(await stage.api.get(`/links/key-availability?${asked}`), 200)
      assert.equal(body.reason, 'reserved')
      await createLink(stage.api, { domain: 'free.localhost', key })
    }
  })

  test('keeps working where a link has had it before it was reserved', async () => {
    const { id, workspace_id } = await createLink(stage.api, { key: 'before' })
    await stage.service.instance.store.write(async ({ links }) => {
      const link = await links.findUncounted(workspace_id, id)
      assert.ok(link)
      await links.update({ ...link, key: 'signin' }, link, 1)
    })
    assert.equal((await visit(stage.service.port, '/signin')).status, 302)
    const url = 'https://example.com/changed'
    expectStatus(await stage.api.patch(`/links/${id}`, { url }), 200)
    expectStatus(
      await stage.api.put(`/links/${id}`, { domain: 'localhost', key: 'signin', url }),
      200,
    )
    expectInvalid(await stage.api.patch(`/links/${id}`, { key: 'login' }), 'key')
    await eventually(async () => {
      assert.equal((await visit(stage.service.port, '/signin')).headers.location, url)
    })
  })

  test('returns 422 for a reserved key in an update too', async () => {
    const { id } = await createLink(stage.api)
    expectInvalid(await stage.api.patch(`/links/${id}`, { key: 'API/v1' }), 'key')
    expectStatus(await stage.api.patch(`/links/${id}`, { key: 'apis' }), 200)
  })
})
