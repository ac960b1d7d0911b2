import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createLink } from './create.ts'

const PHONE = {
  ...{ id: 'phones', name: 'Phones', when: { device: ['phone'], not: { bot: true } } },
  then: { url: 'https://example.com/phone' },
}
const GERMAN = {
  ...{ id: 'german', when: { language: ['de'] } },
  then: {
    split: [
      { name: 'A', url: 'https://example.com/a', weight: 1 },
      { name: 'B', url: 'https://example.com/b', weight: 1 },
    ],
  },
}

onEachEngine('an explanation', (at) => {
  let number = 0

  async function linkWith(rules: readonly object[], fields: object = {}) {
    number += 1
    const { id, key } = await createLink(at.api, { key: `explain-${number}`, ...fields })
    expectStatus(await at.api.put(`/links/${id}/rules`, { rules }), 200)
    const explain = async (body: object) =>
      expectStatus(await at.api.post(`/links/${id}/explain`, body), 200).body
    return { id, key, explain }
  }

  test('says which rule decides, why those before it do not, and how the visit counts', async () => {
    const { explain } = await linkWith([PHONE, GERMAN], { utm_source: 'poster' })
    const explained = await explain({ agent: AGENTS.curl, language: 'fr', method: 'HEAD' })
    assert.equal(explained.kind, 'redirect')
    assert.equal(explained.status, 302)
    assert.equal(explained.location, 'https://example.com/there?utm_source=poster')
    assert.equal(explained.decided_by.by, 'url')
    assert.deepEqual(
      explained.rules.map(({ id, result, failed }: Record<string, unknown>) => [
        id,
        result,
        failed,
      ]),
      [
        ['phones', 'failed', { path: 'when.device', wanted: ['phone'], found: '' }],
        ['german', 'failed', { path: 'when.language', wanted: ['de'], found: 'fr' }],
      ],
    )
    assert.deepEqual(explained.counted, { as: 'bot', flags: ['head'] })
    assert.equal(explained.domain_works, true)

    const phone = await explain({ agent: AGENTS.iPhone })
    assert.deepEqual(phone.decided_by, {
      ...{ by: 'rule', rule: 'phones', name: 'Phones', variant: null, chosen_by: null },
    })
    assert.equal(phone.rules[1].result, 'not_tried')
    assert.deepEqual(phone.counted, { as: 'click', flags: [] })
  })

  test('takes rules and a destination that are not stored, and checks them', async () => {
    const { id, explain } = await linkWith([])
    const draft = await explain({ rules: [PHONE], url: 'https://example.com/new' })
    assert.equal(draft.location, 'https://example.com/new')
    assert.equal(draft.rules[0].id, 'phones')
    assert.deepEqual((await at.api.get(`/links/${id}/rules`)).body, { rules: [] })
    const wrong = { rules: [{ then: { url: 'nowhere' } }], address: '1.2.3', at: 'today' }
    expectInvalid(await at.api.post(`/links/${id}/explain`, wrong), 'rules.0.then.url')
    const { rules: _, ...visitor } = wrong
    expectInvalid(await at.api.post(`/links/${id}/explain`, visitor), 'address', 'at')
    expectInvalid(await at.api.post(`/links/${id}/explain`, { country: 'EU' }), 'country')
  })

  test('takes a rule set that the link does not use yet, and the path of the visit', async () => {
    const set = { name: 'Phones', rules: [{ when: {}, then: { url: 'https://example.com/set' } }] }
    const { id: rule_set } = expectStatus(await at.api.post('/rule-sets', set), 201).body
    const { id, key, explain } = await linkWith([], { path: 'append' })
    const tried = await explain({ rule_set, path: `/${key}/more` })
    assert.equal(tried.location, 'https://example.com/set/more')
    assert.equal(tried.rules[0].of, 'rule_set')
    assert.equal((await at.api.get(`/links/${id}/options`)).body.rule_set, null)
    const other = apiClient(at.service.baseUrl, await at.service.token('other'))
    const foreign = expectStatus(await other.post('/rule-sets', set), 201).body.id
    for (const unknown of [foreign, crypto.randomUUID()]) {
      expectInvalid(await at.api.post(`/links/${id}/explain`, { rule_set: unknown }), 'rule_set')
    }
    const { key: otherKey } = await createLink(at.api, { key: `${key}/nearer` })
    const elsewhere = { path: `/${otherKey}` }
    expectInvalid(await at.api.post(`/links/${id}/explain`, elsewhere), 'path')
  })

  test('explains a recorded click as far as it was recorded', async () => {
    const { id, key, explain } = await linkWith([PHONE, GERMAN])
    const headers = { 'accept-language': 'de-AT,en', 'user-agent': AGENTS.iPad }
    const answer = await visit(at.service.port, `/${key}?qr=1`, { headers })
    const click = await eventually(async () => {
      const url = `${at.service.baseUrl}/api/v1/links/${id}/clicks/export?format=ndjson`
      const exported = await fetch(url, { headers: { authorization: `Bearer ${at.token}` } })
      return JSON.parse(await exported.text())
    })
    assert.equal(click.rule, 'german')
    const explained = await explain({ click: click.id })
    assert.equal(explained.location, answer.headers.location)
    assert.deepEqual(explained.decided_by, {
      ...{ by: 'rule', rule: 'german', name: null, variant: click.variant, chosen_by: 'weight' },
    })
    assert.deepEqual(explained.recorded, { rule: 'german', variant: click.variant })
    assert.equal(explained.visitor.at, click.at)
    assert.deepEqual(explained.visitor.os, ['ipados', 'ios'])
    assert.ok(explained.unknown.includes('address') && explained.unknown.includes('query'))

    // With a token that may not see clicks, and for a click of another link.
    const secret = await at.service.token('acme', ['links:read'])
    const reader = apiClient(at.service.baseUrl, secret)
    expectProblem(await reader.post(`/links/${id}/explain`, { click: click.id }), 'missing_scope')
    expectStatus(await reader.post(`/links/${id}/explain`, {}), 200)
    const other = await linkWith([])
    for (const unknown of [click.id, 'x', '']) {
      const refused = await at.api.post(`/links/${other.id}/explain`, { click: unknown })
      assert.ok([404, 422].includes(refused.status))
    }
    expectInvalid(
      await at.api.post(`/links/${id}/explain`, { click: click.id, country: 'DE' }),
      'click',
    )
  })

  test('decides a link on the way by the query with which it is reached', async () => {
    const origin = `http://localhost:${at.service.port}`
    const first = await linkWith([])
    const when = { query: [{ name: 'again', present: true as const }] }
    const second = await linkWith([{ when, then: { url: `${origin}/${first.key}` } }])
    for (const [query, kind] of [
      ['?again', 'loop'],
      ['', 'redirect'],
    ]) {
      const rules = [{ when: {}, then: { url: `${origin}/${second.key}${query}` } }]
      assert.equal((await first.explain({ rules })).kind, kind)
    }
  })

  test('finds a redirect that leads back, and a domain that does not work yet', async () => {
    const { key, explain } = await linkWith([])
    const back = { ...PHONE, then: { url: `http://localhost:${at.service.port}/${key}?again` } }
    const looped = await explain({ rules: [back], agent: AGENTS.iPhone })
    assert.deepEqual([looped.kind, looped.status, looped.decided_by.by], ['loop', 508, 'loop'])
    const pending = { domain: 'pending.acme.test', url: 'https://example.com/' }
    const { body } = await at.api.post('/links', pending)
    const later = expectStatus(await at.api.post(`/links/${body.id}/explain`, {}), 200).body
    assert.deepEqual([later.location, later.domain_works], ['https://example.com/', false])
  })

  test('is refused to other workspaces', async () => {
    const { id } = await linkWith([])
    const other = apiClient(at.service.baseUrl, await at.service.token('other'))
    expectProblem(await other.post(`/links/${id}/explain`, {}), 'not_found')
  })
})
