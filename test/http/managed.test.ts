import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, listedKeys, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'

const RULES = [{ id: 'de', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } }]

type Marked = { managed_by: string | null; managed_at: string | null; updated_at: string }

/** Where a mark is written and read. */
type Place = {
  readonly path: string
  readonly read: () => Promise<Marked>
  /** Changes something, without naming a set. */
  readonly edit: () => Promise<unknown>
}

async function linkPlace(api: Api): Promise<Place> {
  const { id } = await createLink(api)
  return {
    path: `/links/${id}`,
    async read() {
      const { body } = expectStatus(await api.get(`/links/${id}?include=options`), 200)
      const { managed_by, managed_at } = body.options
      return { managed_by, managed_at, updated_at: body.updated_at }
    },
    edit: async () => expectStatus(await api.put(`/links/${id}/rules`, { rules: RULES }), 200),
  }
}

async function domainPlace(api: Api): Promise<Place> {
  const { id } = expectStatus(await api.post('/domains', { domain: 'marked.localhost' }), 201).body
  const path = `/domains/${id}/settings`
  return {
    path,
    read: async () => expectStatus(await api.get(path), 200).body,
    // The settings that it leaves out are set back; the mark is no setting.
    edit: async () => expectStatus(await api.put(path, { robots: 'index' }), 200),
  }
}

function placeIn(kind: string, body: object, edit: object) {
  return async (api: Api): Promise<Place> => {
    const { id } = expectStatus(await api.post(`/${kind}`, body), 201).body
    const path = `/${kind}/${id}`
    return {
      path,
      read: async () => expectStatus(await api.get(path), 200).body,
      edit: async () => expectStatus(await api.put(path, edit), 200),
    }
  }
}

const PLACES = {
  'a link': linkPlace,
  'the settings of a domain': domainPlace,
  'a rule set': placeIn('rule-sets', { name: 'Shops' }, { name: 'Shops', rules: RULES }),
  'a UTM template': placeIn('utm-templates', { name: 'Mail' }, { name: 'Mail', utm_source: 'm' }),
}

const markOf = ({ managed_by, managed_at }: Marked) => ({ managed_by, managed_at })

onEachEngine('links as code', (stage) => {
  for (const [what, placeFor] of Object.entries(PLACES)) {
    test(`the mark of ${what} says by its instant whether something else has changed it since`, async () => {
      const api = await stage.service.api('places')
      const { path, read, edit } = await placeFor(api)
      assert.deepEqual(markOf(await read()), { managed_by: null, managed_at: null })

      expectStatus(await api.patch(path, { managed_by: 'flyers' }), 200)
      const applied = await read()
      const { updated_at } = applied
      assert.deepEqual(markOf(applied), { managed_by: 'flyers', managed_at: updated_at })
      await edit()
      const edited = await read()
      assert.deepEqual(markOf(edited), markOf(applied))
      assert.ok(edited.updated_at > updated_at, `${edited.updated_at} after ${updated_at}`)

      // What changes nothing else is no change of the thing, and has no event.
      const id = path.split('/')[2]
      const logged = async () =>
        expectStatus(await api.get(`/events?subject=${id}`), 200).body.data.length
      const before = await logged()
      expectStatus(await api.patch(path, { managed_by: 'flyers' }), 200)
      assert.deepEqual(await read(), { ...edited, managed_at: edited.updated_at })
      assert.equal(await logged(), before)

      expectStatus(await api.patch(path, { managed_by: null }), 200)
      assert.deepEqual(markOf(await read()), { managed_by: null, managed_at: null })
      expectInvalid(await api.patch(path, { managed_by: 'Flyers of May' }), 'managed_by')
      const { body } = expectStatus(await api.get(`/events?subject=${id}`), 200)
      assert.deepEqual(body.data[0].before, { managed_by: 'flyers' })
      assert.deepEqual(body.data[0].after, { managed_by: null })
    })
  }

  test('the mark is written with what a request creates', async () => {
    const api = await stage.service.api('new')
    const mark = { managed_by: 'new' }
    const set = expectStatus(await api.post('/rule-sets', { name: 'S', ...mark }), 201).body
    const template = expectStatus(await api.post('/utm-templates', { name: 'T', ...mark }), 201)
    const links = [{ domain: 'localhost', url: 'https://example.com/', ...mark }]
    const made = expectStatus(await api.post('/links/bulk', { action: 'create', links }), 200).body
    const { id } = made.results[0]
    const link = expectStatus(await api.get(`/links/${id}?include=options`), 200).body
    for (const marked of [set, template.body, { ...link.options, updated_at: link.updated_at }]) {
      const { managed_by, managed_at } = marked
      assert.deepEqual([managed_by, managed_at], ['new', marked.updated_at])
    }
    const changes = { managed_by: null }
    const update = { action: 'update', ids: [id], changes }
    expectStatus(await api.post('/links/bulk', update), 200)
    assert.equal((await api.get(`/links/${id}/options`)).body.managed_by, null)
  })

  test('the mark filters lists and exports of links, by page and by cursor', async () => {
    const api = await stage.service.api('filter')
    for (const [key, managed_by] of [
      ['a', 'filter'],
      ['b', 'other'],
      ['c', null],
      ['d', 'filter'],
    ]) {
      await createLink(api, { key: `filter-${key}`, managed_by })
    }
    const wanted = ['filter-d', 'filter-a']
    for (const query of ['', '&cursor=', '&sort=-key']) {
      assert.deepEqual(await listedKeys(api, `?managed_by=filter${query}`), wanted, query)
    }
    const { body } = expectStatus(await api.get('/links?managed_by=filter&per_page=1'), 200)
    assert.equal(body.meta.total, 2)
    const exported = await api.get('/links/export?managed_by=other&fields=key&format=ndjson')
    assert.equal(expectStatus(exported, 200).body, '{"key":"filter-b"}\n')
    assert.deepEqual(await listedKeys(api, '?managed_by=none'), [])
    expectInvalid(await api.get('/links?managed_by=No%20set'), 'managed_by')
    const stranger = await stage.service.api('stranger')
    assert.deepEqual(await listedKeys(stranger, '?managed_by=filter'), [])
  })

  test('the mark goes back with an undone change', async () => {
    const { api } = stage
    const { id } = await createLink(api, { managed_by: 'undone' })
    expectStatus(await api.patch(`/links/${id}`, { managed_by: null }), 200)
    const { data } = expectStatus(await api.get(`/links/${id}/history`), 200).body
    const { sequence } = data[0]
    expectStatus(await api.post(`/links/${id}/revert`, { sequence }), 200)
    assert.equal((await api.get(`/links/${id}/options`)).body.managed_by, 'undone')
  })

  test('rules of links are beside the fields of a list when they are requested', async () => {
    const { api } = stage
    const link = await createLink(api, { external_id: 1_818 })
    const rules = expectStatus(await api.put(`/links/${link.id}/rules`, { rules: RULES }), 200).body
    const { body } = expectStatus(await api.get('/links?external_id=1818&include=rules'), 200)
    assert.deepEqual(body.data, [{ ...(await showLink(api, link.id)), ...rules }])
    const both = await api.get('/links?external_id=1818&include=options,rules&fields=id&cursor=')
    assert.deepEqual(Object.keys(expectStatus(both, 200).body.data[0]), [
      ...['id', 'options', 'rule_count', 'split_count', 'rules'],
    ])
    const plain = await createLink(api)
    const shown = await api.get(`/links/${plain.id}?include=rules`)
    assert.deepEqual(expectStatus(shown, 200).body.rules, [])
  })

  test('a link that must not be deleted stays, whether it is deleted alone or with others, until that is allowed', async () => {
    const { api } = stage
    const kept = await createLink(api, { prevent_delete: true })
    const other = await createLink(api)
    expectInvalid(await api.delete(`/links/${kept.id}`), 'prevent_delete')
    const ids = [kept.id, other.id]
    const bulk = expectStatus(await api.post('/links/bulk', { action: 'delete', ids }), 200).body
    assert.deepEqual([bulk.succeeded, bulk.failed], [1, 1])
    assert.deepEqual(Object.keys(bulk.results[0].error.errors), ['prevent_delete'])
    await showLink(api, kept.id)

    const found = await fetch(`${stage.service.baseUrl}/${kept.key}`, { redirect: 'manual' })
    assert.equal(found.status, 302)
    const options = { prevent_delete: null }
    expectStatus(await api.patch(`/links/${kept.id}/options`, options), 200)
    const { body } = await api.get(`/events?subject=${kept.id}&type=link.updated`)
    assert.deepEqual(body.data[0].before, { prevent_delete: true })
    assert.deepEqual(body.data[0].after, { prevent_delete: false })
    expectStatus(await api.delete(`/links/${kept.id}`), 200)
  })
})
