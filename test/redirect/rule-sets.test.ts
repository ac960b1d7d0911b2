import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createLink } from './create.ts'

const PHONE = { id: 'phone', when: { device: ['phone'] }, then: { url: 'https://e.example/phone' } }
const GERMAN = { id: 'de', when: { language: ['de'] }, then: { url: 'https://e.example/de' } }
const EVERYBODY = { then: { url: 'https://e.example/set' } }
const U = 'https://e.example/web'
const UNKNOWN = '00000000-0000-7000-8000-000000000000'

const isOneOf = (pair: readonly number[], pairs: readonly (readonly number[])[]) =>
  pairs.some((allowed) => isDeepStrictEqual(pair, allowed))

onEachEngine('rule sets at a visit', (at) => {
  let number = 0

  async function newSet(rules: readonly object[]) {
    number += 1
    return expectStatus(await at.api.post('/rule-sets', { name: `${number}`, rules }), 201).body
  }

  async function linkWith(rule_set: string | null, fields: object = {}) {
    number += 1
    return createLink(at.api, { key: `set-${number}`, url: U, rule_set, ...fields })
  }

  const leadsTo = async (
    { key }: { key: string },
    headers: Record<string, string> = {},
    query = '',
  ) => (await visit(at.service.port, `/${key}${query}`, { headers })).headers.location

  test('are tried after the own rules of the link, before its destination', async () => {
    const set = await newSet([PHONE, GERMAN])
    const link = await linkWith(set.id)
    const own = { when: { language: ['de'] }, then: { url: 'https://e.example/own' } }
    expectStatus(await at.api.put(`/links/${link.id}/rules`, { rules: [own] }), 200)
    const german = { 'accept-language': 'de' }
    assert.equal(await leadsTo(link, german), 'https://e.example/own')
    assert.equal(await leadsTo(link, { 'user-agent': AGENTS.iPhone }), 'https://e.example/phone')
    assert.equal(await leadsTo(link), U)
    expectStatus(await at.api.put(`/links/${link.id}/rules`, { rules: [] }), 200)
    assert.equal(await leadsTo(link, german), 'https://e.example/de')
  })

  test('ask for the language among those that they name themselves', async () => {
    const set = await newSet([GERMAN])
    const link = await linkWith(set.id)
    const french = { when: { language: ['fr'] }, then: { url: 'https://e.example/fr' } }
    expectStatus(await at.api.put(`/links/${link.id}/rules`, { rules: [french] }), 200)
    assert.equal(await leadsTo(link, { 'accept-language': 'fr' }), 'https://e.example/fr')
    assert.equal(await leadsTo(link, { 'accept-language': 'de' }), 'https://e.example/de')
  })

  test('get the UTM values of each link, and the query of the visitor', async () => {
    const set = await newSet([
      { then: { url: 'https://e.example/?utm_source=set&page={query.page}' } },
    ])
    const first = await linkWith(set.id, { utm_source: 'one' })
    const second = await linkWith(set.id, { utm_source: 'two', utm_medium: 'mail' })
    const plain = await linkWith(set.id)
    const query = '?page=7&x=1'
    assert.equal(await leadsTo(first, {}, query), 'https://e.example/?page=7&utm_source=one&x=1')
    assert.equal(
      await leadsTo(second, {}, query),
      'https://e.example/?page=7&utm_source=two&utm_medium=mail&x=1',
    )
    assert.equal(await leadsTo(plain, {}, query), 'https://e.example/?utm_source=set&page=7&x=1')
  })

  test('change for all links at once', async () => {
    const set = await newSet([EVERYBODY])
    const links = [await linkWith(set.id), await linkWith(set.id)]
    for (const link of links) assert.equal(await leadsTo(link), EVERYBODY.then.url)
    const rules = [{ then: { url: 'https://e.example/changed' } }]
    expectStatus(await at.api.patch(`/rule-sets/${set.id}`, { rules }), 200)
    for (const link of links) assert.equal(await leadsTo(link), 'https://e.example/changed')
  })

  test('lead nowhere but to the destination of a link that gives them up', async () => {
    const set = await newSet([EVERYBODY])
    const link = await linkWith(set.id)
    assert.equal(await leadsTo(link), EVERYBODY.then.url)
    const path = `/links/${link.id}/options`
    expectStatus(await at.api.patch(path, { rule_set: null }), 200)
    assert.equal(await leadsTo(link), U)
  })

  test('count a click by the id of their rule', async () => {
    const set = await newSet([EVERYBODY])
    const link = await linkWith(set.id)
    await leadsTo(link, { 'user-agent': AGENTS.iPhone })
    await eventually(async () => {
      const { body } = await at.api.get(`/links/${link.id}/clicks?group_by=rule`)
      assert.deepEqual(
        body.data.map(({ value }: { value: string }) => value),
        [set.rules[0].id],
      )
    })
  })

  test('answer 508 where a rule leads back to the link', async () => {
    const set = await newSet([])
    const link = await linkWith(set.id)
    const rules = [{ then: { url: `http://localhost:${at.service.port}/${link.key}` } }]
    expectStatus(await at.api.patch(`/rule-sets/${set.id}`, { rules }), 200)
    assert.equal((await visit(at.service.port, `/${link.key}`)).status, 508)
  })

  test('must be of the workspace of the link', async () => {
    const other = await at.service.api('other')
    const foreign = expectStatus(await other.post('/rule-sets', { name: 'foreign' }), 201).body
    const link = await linkWith(null)
    for (const rule_set of [foreign.id, UNKNOWN]) {
      const body = { domain: 'localhost', url: U, rule_set }
      expectInvalid(await at.api.post('/links', body), 'rule_set')
      const path = `/links/${link.id}/options`
      expectInvalid(await at.api.patch(path, { rule_set }), 'rule_set')
      const bulk = { action: 'create', links: [body] }
      const { results } = expectStatus(await at.api.post('/links/bulk', bulk), 200).body
      assert.deepEqual(Object.keys(results[0].error.errors), ['rule_set'])
    }
  })

  test('are not deleted while links use them, which the refusal names', async () => {
    const set = await newSet([EVERYBODY])
    const links = []
    for (let nth = 0; nth < 11; nth += 1) links.push(await linkWith(set.id))
    const refused = expectStatus(await at.api.delete(`/rule-sets/${set.id}`), 409)
    assert.equal(refused.body.code, 'in_use')
    const { count, links: named } = refused.body.details
    assert.equal(count, 11)
    assert.deepEqual(
      named,
      links.slice(0, 10).map(({ domain, key }) => `${domain}/${key}`),
    )
    assert.match(refused.body.message, /used by 11 links, such as localhost\/set-/)
    const [first, ...others] = links
    for (const { id } of others) expectStatus(await at.api.delete(`/links/${id}`), 200)
    expectStatus(await at.api.delete(`/rule-sets/${set.id}`), 409)
    expectStatus(await at.api.patch(`/links/${first?.id}`, { rule_set: null }), 200)
    expectStatus(await at.api.delete(`/rule-sets/${set.id}`), 200)
  })

  test('are used by no link when they are deleted at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const set = await newSet([])
      const [created, deleted] = await Promise.all([
        at.api.post('/links', { domain: 'localhost', url: U, rule_set: set.id }),
        at.api.delete(`/rule-sets/${set.id}`),
      ])
      const statuses = [created.status, deleted.status]
      assert.ok(
        isOneOf(statuses, [
          [201, 409],
          [422, 200],
        ]),
        statuses.join(),
      )
    }
  })
})
