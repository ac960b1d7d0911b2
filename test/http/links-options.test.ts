import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, LINK_FIELDS, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { jsonRequest } from '../support/operations.ts'

const NONE = {
  max_clicks: null,
  clicks_left: null,
  active_from: null,
  archived: false,
  notes: null,
  path: 'none',
  query: 'merge',
  rule_set: null,
  title: null,
  description: null,
  image: null,
  track_conversions: null,
  managed_by: null,
  managed_at: null,
  prevent_delete: false,
}
const SENT = {
  max_clicks: 500,
  active_from: '2020-01-01T01:00:00+01:00',
  archived: true,
  notes: 'On the flyer\nof May',
  path: 'append',
  query: 'drop',
  title: 'Spring “sale”',
  description: 'Everything must go',
  image: 'https://example.com/picture.png',
  track_conversions: false,
}
const STORED = {
  ...SENT,
  clicks_left: 500,
  rule_set: null,
  active_from: '2020-01-01T00:00:00.000000Z',
  managed_by: null,
  managed_at: null,
  prevent_delete: false,
}

onEachEngine('the options of a link', (stage) => {
  const optionsOf = async (id: string) =>
    expectStatus(await stage.api.get(`/links/${id}/options`), 200).body

  test('are those of a plain link at first', async () => {
    const { id } = await createLink(stage.api)
    assert.deepEqual(await optionsOf(id), NONE)
  })

  test('are set with the link, whose fields stay those of the specification', async () => {
    const link = await createLink(stage.api, SENT)
    assert.deepEqual(Object.keys(link), [...LINK_FIELDS])
    assert.deepEqual(await optionsOf(link.id), STORED)
  })

  test('are changed one by one, and stay when the link is changed', async () => {
    const { id, url, domain } = await createLink(stage.api, SENT)
    const path = `/links/${id}/options`
    const changed = expectStatus(await stage.api.patch(path, { notes: null, query: null }), 200)
    assert.deepEqual(changed.body, { ...STORED, notes: null, query: 'merge' })
    expectStatus(await stage.api.put(`/links/${id}`, { domain, url, max_clicks: 3 }), 200)
    assert.deepEqual(await optionsOf(id), { ...changed.body, max_clicks: 3, clicks_left: 3 })
    // Sent back as they were read, they stay.
    expectStatus(await stage.api.patch(path, await optionsOf(id)), 200)
  })

  test('belong to the version of the link', async () => {
    const { id } = await createLink(stage.api)
    const path = `/links/${id}/options`
    const { headers } = await stage.api.get(`/links/${id}`)
    const ifMatch = { 'if-match': headers.get('etag') ?? '' }
    const note = (notes: string) =>
      stage.api.send('PATCH', path, jsonRequest(JSON.stringify({ notes }), ifMatch))
    expectStatus(await note('first'), 200)
    expectStatus(await note('second'), 412)
    assert.equal((await optionsOf(id)).notes, 'first')
  })

  test('are in the events of the link', async () => {
    const { id } = await createLink(stage.api)
    await stage.api.patch(`/links/${id}/options`, { notes: 'new', archived: true })
    const { body } = await stage.api.get(`/events?subject=${id}&type=link.updated`)
    assert.deepEqual(body.data[0].before, { notes: null, archived: false })
    assert.deepEqual(body.data[0].after, { notes: 'new', archived: true })
  })

  test('are beside the fields of listed links, with the numbers of rules, when they are requested', async () => {
    const link = await createLink(stage.api, { ...SENT, external_id: 1_717 })
    const variant = (name: string) => ({ name, url: `https://${name}.test/`, weight: 1 })
    const rules = [
      { when: { device: ['phone'] }, then: { url: 'https://m.test/' } },
      { when: {}, then: { split: [variant('a'), variant('b')] } },
    ]
    expectStatus(await stage.api.put(`/links/${link.id}/rules`, { rules }), 200)
    const listed = async (query: string) =>
      expectStatus(await stage.api.get(`/links?external_id=1717${query}`), 200).body.data[0]
    const included = { options: STORED, rule_count: 2, split_count: 1 }
    const fields = await showLink(stage.api, link.id)
    assert.deepEqual(await listed(''), fields)
    assert.deepEqual(await listed('&include=options'), { ...fields, ...included })
    const cursor = await listed('&include=options&cursor=')
    assert.deepEqual(cursor, { ...fields, ...included })
    const chosen = await listed('&include=options&fields=id')
    assert.deepEqual(chosen, { id: link.id, ...included })
    const one = await stage.api.get(`/links/${link.id}?include=options`)
    assert.deepEqual(one.body, { ...fields, ...included })
    expectInvalid(await stage.api.get('/links?include=password'), 'include')
  })

  test('are refused one by one where they are wrong', async () => {
    const link = await createLink(stage.api)
    const answer = await stage.api.patch(`/links/${link.id}/options`, {
      max_clicks: 0,
      active_from: 'tomorrow',
      notes: '\u0000',
      query: 'keep',
      title: 'a\nb',
      description: 'x'.repeat(501),
      image: 'http://example.com/picture.png',
    })
    expectInvalid(
      answer,
      'max_clicks',
      'active_from',
      'notes',
      'query',
      'title',
      'description',
      'image',
    )
    assert.deepEqual(await showLink(stage.api, link.id), { ...link, clicks: 0 })
  })

  test('are refused beside rules without conditions', async () => {
    const { id } = await createLink(stage.api)
    const rules = [{ then: { url: 'https://example.com/' } }]
    expectInvalid(await stage.api.put(`/links/${id}/rules`, { rules, notes: 1 }), 'notes')
    expectInvalid(await stage.api.post('/rule-sets', { name: 1, rules }), 'name')
  })
})
