import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createLink } from './create.ts'

const TO_SHOP = { then: { url: 'https://example.com/shop' } }
const PHONE = { when: { device: ['phone'] }, then: { url: 'https://example.com/phone' } }
const GERMAN = { when: { language: ['de'] }, then: { url: 'https://example.com/de/{query.page}' } }
const SPLIT = {
  id: 'ab',
  when: {},
  then: {
    split: [
      { name: 'A', url: 'https://example.com/a', weight: 1 },
      { name: 'B', url: 'https://example.com/b', weight: 1 },
    ],
    remember_days: 30,
  },
}

onEachEngine('the rules of a link', (at) => {
  let number = 0

  /** Creates a link with rules. */
  async function linkWith(rules: readonly object[], fields: object = {}) {
    number += 1
    const plain = { key: `rules-${number}`, url: 'https://example.com/web' }
    const { id, key } = await createLink(at.api, { ...plain, ...fields })
    const path = `/links/${id}/rules`
    const set = expectStatus(await at.api.put(path, { rules }), 200)
    const leadsTo = async (headers: Record<string, string> = {}, query = '') => {
      const answer = await visit(at.service.port, `/${key}${query}`, { headers })
      assert.equal(answer.status, 302)
      return answer.headers.location
    }
    return { id, key, path, set, leadsTo }
  }

  test('decide where visitors are sent, in their order', async () => {
    const { leadsTo } = await linkWith([PHONE, GERMAN])
    assert.equal(await leadsTo({ 'user-agent': AGENTS.iPhone }), 'https://example.com/phone')
    const german = { 'accept-language': 'de-AT' }
    assert.equal(await leadsTo(german, '?page=1&a=2'), 'https://example.com/de/1?a=2')
    assert.equal(await leadsTo(), 'https://example.com/web')
  })

  test('come before ios and android', async () => {
    const { leadsTo } = await linkWith([GERMAN], { ios: 'https://example.com/ios' })
    const phone = { 'user-agent': AGENTS.iPhone }
    assert.equal(await leadsTo(phone), 'https://example.com/ios')
    const german = { ...phone, 'accept-language': 'de' }
    assert.equal(await leadsTo(german), 'https://example.com/de/')
  })

  test('get the UTM values of the link', async () => {
    const { leadsTo } = await linkWith([PHONE], { utm_source: 'poster' })
    const location = await leadsTo({ 'user-agent': AGENTS.iPhone })
    assert.equal(location, 'https://example.com/phone?utm_source=poster')
  })

  test('take effect at once, and end when they are removed', async () => {
    const { path, leadsTo } = await linkWith([])
    assert.equal(await leadsTo(), 'https://example.com/web')
    const everybody = { when: {}, then: { url: 'https://example.com/all' } }
    await at.api.put(path, { rules: [everybody] })
    assert.equal(await leadsTo(), 'https://example.com/all')
    await at.api.put(path, { rules: [] })
    assert.equal(await leadsTo(), 'https://example.com/web')
    assert.deepEqual((await at.api.get(path)).body, { rules: [] })
  })

  test('are returned with their ids, which stay when they are sent back', async () => {
    const { path, set } = await linkWith([{ name: 'Phones', ...PHONE }, SPLIT])
    const [first, second] = set.body.rules
    assert.match(first.id, /^[0-9a-f]{10}$/)
    assert.deepEqual(first, { id: first.id, name: 'Phones', ...PHONE })
    assert.deepEqual(second, SPLIT)
    assert.deepEqual((await at.api.get(path)).body, set.body)
    assert.deepEqual((await at.api.put(path, set.body)).body, set.body)
  })

  test('keep the variant of a visitor in a cookie', async () => {
    const { key } = await linkWith([SPLIT])
    const first = await visit(at.service.port, `/${key}`, {
      headers: { 'user-agent': AGENTS.iPhone },
    })
    const cookie = String(first.headers['set-cookie'])
    assert.match(cookie, /^terse_variant_ab=[AB]\./)
    const back = { cookie: cookie.split(';', 1)[0] ?? '' }
    for (const agent of Object.values(AGENTS)) {
      const again = await visit(at.service.port, `/${key}`, {
        headers: { ...back, 'user-agent': agent },
      })
      assert.equal(again.headers.location, first.headers.location)
      assert.equal(again.headers['set-cookie'], undefined)
    }
  })

  test('are counted, with the variants of their splits', async () => {
    const name = 'größer & "B"'
    const only = { ...SPLIT.then.split[1], name, weight: 1 }
    const split = [{ ...SPLIT.then.split[0], weight: 0 }, only]
    const { id, leadsTo } = await linkWith([
      { id: 'phones', ...PHONE },
      { id: 'ab', ...GERMAN, then: { split } },
    ])
    const german = { 'accept-language': 'de' }
    for (const headers of [{ 'user-agent': AGENTS.iPhone }, german, german, {}]) {
      await leadsTo({ 'user-agent': AGENTS.curl, ...headers })
    }
    const countBy = async (query: string) => {
      const { body } = await at.api.get(`/links/${id}/clicks?${query}`)
      return body.data.map(({ value, clicks }: { value: string; clicks: number }) => [
        value,
        clicks,
      ])
    }
    await eventually(async () => {
      assert.deepEqual(await countBy('group_by=rule'), [
        ['ab', 2],
        [null, 1],
        ['phones', 1],
      ])
    })
    assert.deepEqual(await countBy('group_by=variant'), [
      [null, 2],
      [name, 2],
    ])
    assert.deepEqual(await countBy(`group_by=rule&variant=${encodeURIComponent(name)}`), [
      ['ab', 2],
    ])
  })

  test('refuse faults by their fields, and change nothing', async () => {
    const { path, set } = await linkWith([PHONE])
    const wrong = { when: { country: ['XX'], not: { os: ['dos'] } }, then: {} }
    const refused = await at.api.put(path, { rules: [wrong] })
    assert.equal(refused.status, 422)
    assert.deepEqual(Object.keys(refused.body.errors).toSorted(), [
      'rules.0.then',
      'rules.0.when.country.0',
      'rules.0.when.not.os.0',
    ])
    assert.deepEqual((await at.api.get(path)).body, set.body)
  })

  test('change the version of the link, and only as If-Match names it', async () => {
    const { id, path } = await linkWith([PHONE])
    const before = await at.api.get(`/links/${id}`)
    const tag = String(before.headers.get('etag'))
    const put = () =>
      at.api.send('PUT', path, {
        headers: { 'content-type': 'application/json', 'if-match': tag },
        body: JSON.stringify({ rules: [] }),
      })
    assert.equal((await put()).status, 200)
    assert.equal((await put()).status, 412)
  })

  test('are in the event log, before and after', async () => {
    const { id, set } = await linkWith([PHONE])
    const { body } = await at.api.get(`/events?subject=${id}&type=link.updated`)
    assert.deepEqual(body.data[0]?.before, { rules: null })
    assert.deepEqual(body.data[0]?.after, { rules: set.body.rules })
  })

  test('stay when other fields of the link change, and are no field of it', async () => {
    const { id, path, set } = await linkWith([PHONE])
    const changed = await at.api.patch(`/links/${id}`, { tags: ['x'] })
    assert.equal('rules' in changed.body, false)
    assert.deepEqual((await at.api.get(path)).body, set.body)
    const refused = await at.api.patch(`/links/${id}`, { rules: [] })
    assert.equal(refused.status, 422)
  })

  test('may be those of each example in docs/smart-links.md', async () => {
    const page = readFileSync(new URL('../../docs/smart-links.md', import.meta.url), 'utf8')
    const examples = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => text)
    assert.ok(examples.length >= 5)
    for (const text of examples) {
      const example = JSON.parse(text)
      const whole = 'rules' in example ? example : { rules: [{ when: example, ...TO_SHOP }] }
      await linkWith(whole.rules)
    }
  })

  test('are unknown for a link that does not exist', async () => {
    const answer = await at.api.get('/links/00000000-0000-7000-8000-000000000000/rules')
    assert.equal(answer.status, 404)
  })
})
