import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { jsonRequest } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'

const DE = { when: { country: ['DE'] }, then: { url: 'https://example.com/de' } }
const EVERYBODY = { then: { url: 'https://example.com/set' } }

async function newSet(api: Api, name: string, rules: readonly object[] = [EVERYBODY]) {
  return expectStatus(await api.post('/rule-sets', { name, rules }), 201).body
}

onEachEngine('rule sets', (stage) => {
  test('are created, shown, changed and deleted, each with an event', async () => {
    const api = await stage.service.api('life')
    const sent = { name: 'Shops', rules: [{ id: 'de', name: 'Germany', ...DE }, EVERYBODY] }
    const created = expectStatus(await api.post('/rule-sets', sent), 201).body
    const { id, workspace_id, created_at, updated_at, ...fields } = created
    assert.equal(fields.name, 'Shops')
    assert.deepEqual(fields.rules[0], { id: 'de', name: 'Germany', ...DE })
    // Long enough that no other rule has it.
    assert.match(fields.rules[1].id, /^set-[0-9a-f]{20}$/)
    assert.deepEqual(fields.rules[1], { id: fields.rules[1].id, when: {}, ...EVERYBODY })
    assert.deepEqual(expectStatus(await api.get(`/rule-sets/${id}`), 200).body, created)

    const renamed = expectStatus(await api.patch(`/rule-sets/${id}`, { name: 'shops' }), 200).body
    assert.deepEqual(renamed, { ...created, name: 'shops', updated_at: renamed.updated_at })
    assert.ok(renamed.updated_at > updated_at)
    const replaced = await api.put(`/rule-sets/${id}`, { name: 'shops', rules: [] })
    assert.deepEqual(expectStatus(replaced, 200).body.rules, [])
    const deleted = expectStatus(await api.delete(`/rule-sets/${id}`), 200)
    assert.deepEqual(deleted.body, { message: 'Rule set deleted' })
    expectProblem(await api.get(`/rule-sets/${id}`), 'not_found')
    expectProblem(await api.delete(`/rule-sets/${id}`), 'not_found')

    const admin = await stage.service.api('life', ['workspace:admin'])
    const events = expectStatus(await admin.get(`/events?subject=${id}`), 200).body.data
    assert.deepEqual(
      events.map(({ type }: { type: string }) => type),
      ['rule_set.deleted', 'rule_set.updated', 'rule_set.updated', 'rule_set.created'],
    )
    assert.deepEqual(events[2].after, { name: 'shops' })
    assert.deepEqual(events[1].before, { rules: created.rules })
  })

  test('are listed by name, by page number and by cursor', async () => {
    const api = await stage.service.api('list')
    for (const name of ['b', 'D', 'a', 'C', 'e']) await newSet(api, name)
    const names = (answer: { data: { name: string }[] }) => answer.data.map(({ name }) => name)
    const page = expectStatus(await api.get('/rule-sets?per_page=2&page=2'), 200).body
    assert.deepEqual([names(page), page.meta.total], [['C', 'D'], 5])
    const walked: string[] = []
    let cursor = ''
    do {
      const query = `per_page=2&cursor=${encodeURIComponent(cursor)}`
      const { body } = expectStatus(await api.get(`/rule-sets?${query}`), 200)
      walked.push(...names(body))
      cursor = body.meta.next_cursor
      if (walked.length === 2) await newSet(api, 'aa')
    } while (cursor !== null)
    assert.deepEqual(walked, ['a', 'b', 'C', 'D', 'e'])
  })

  test('have names of their own in their workspace, whatever the letter case', async () => {
    const { id } = await newSet(stage.api, 'One')
    expectInvalid(await stage.api.post('/rule-sets', { name: 'ONE' }), 'name')
    const two = await newSet(stage.api, 'Two')
    expectInvalid(await stage.api.patch(`/rule-sets/${two.id}`, { name: 'one' }), 'name')
    expectStatus(await stage.api.patch(`/rule-sets/${id}`, { name: 'one' }), 200)
    await newSet(await stage.service.api('other'), 'One')
    const both = await Promise.all(
      [1, 2].map(() => stage.api.post('/rule-sets', { name: 'At once' })),
    )
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 422])
  })

  test('keep a change that another one has overtaken from being lost, by If-Match', async () => {
    const { id } = await newSet(stage.api, 'Matched')
    const tag = (await stage.api.get(`/rule-sets/${id}`)).headers.get('etag') ?? ''
    const send = (rules: readonly object[]) =>
      stage.api.send(
        'PATCH',
        `/rule-sets/${id}`,
        jsonRequest(JSON.stringify({ rules }), { 'if-match': tag }),
      )
    const next = expectStatus(await send([DE]), 200).headers.get('etag') ?? ''
    assert.notEqual(next, tag)
    expectProblem(await send([EVERYBODY]), 'precondition_failed')
    const remove = (match: string) =>
      stage.api.send('DELETE', `/rule-sets/${id}`, { headers: { 'if-match': match } })
    expectProblem(await remove(tag), 'precondition_failed')
    expectStatus(await remove(next), 200)
  })

  test('say how many links and domains use each, when asked', async () => {
    const api = await stage.service.api('uses')
    const [used, free] = [await newSet(api, 'Used'), await newSet(api, 'Free')]
    const added = await api.post('/domains', { domain: 'uses.localhost' })
    const path = `/domains/${expectStatus(added, 201).body.id}/settings`
    expectStatus(await api.patch(path, { rule_set: used.id }), 200)
    for (const key of ['a', 'b']) {
      const link = { domain: 'uses.localhost', key, url: 'https://example.com/' }
      expectStatus(await api.post('/links', { ...link, rule_set: used.id }), 201)
    }
    const uses = new Map([
      [free.id, { links: 0, domains: 0 }],
      [used.id, { links: 2, domains: 1 }],
    ])
    for (const query of ['include=used_by', 'include=used_by&cursor=']) {
      const { data } = expectStatus(await api.get(`/rule-sets?${query}`), 200).body
      const found = data.map(({ id, used_by }: Record<string, unknown>) => [id, used_by])
      assert.deepEqual(found, [...uses])
    }
    const one = expectStatus(await api.get(`/rule-sets/${used.id}?include=used_by`), 200).body
    assert.deepEqual(one, { ...used, used_by: uses.get(used.id) })
    assert.deepEqual(expectStatus(await api.get(`/rule-sets/${used.id}`), 200).body, used)
    expectStatus(await api.get('/rule-sets?include=links'), 422)
  })

  test('are at most 200 in a workspace', async () => {
    const api = await stage.service.api('many')
    const { workspace_id } = await newSet(api, '0')
    await stage.service.instance.store.write(async ({ ruleSets }) => {
      for (let nth = 1; nth < 200; nth += 1) {
        const id = `00000000-0000-7000-8000-${String(nth).padStart(12, '0')}`
        const times = { created_at: nth, updated_at: nth }
        const fields = { ...times, managed_by: null, managed_at: null, rules: [] }
        await ruleSets.insert({ ...fields, id, workspace_id, name: `${nth}` })
      }
    })
    expectInvalid(await api.post('/rule-sets', { name: 'one more' }), 'name')
  })

  for (const [body, field] of [
    [{}, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'x', url: 'y' }, 'url'],
    [{ name: 'x', rules: [{ then: {} }] }, 'rules.0.then'],
    [{ name: 'x', rules: [{ then: { url: 'nowhere' } }] }, 'rules.0.then.url'],
    [
      {
        name: 'x',
        rules: [
          { id: 'a', ...DE },
          { id: 'a', ...DE },
        ],
      },
      'rules',
    ],
  ] as const) {
    test(`return 422 on ${field} for ${JSON.stringify(body).slice(0, 60)}`, async () => {
      expectInvalid(await stage.api.post('/rule-sets', body), field)
    })
  }
})
