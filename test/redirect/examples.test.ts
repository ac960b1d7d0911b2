import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { AGENTS } from './agents.ts'
import { createDomain, createLink } from './create.ts'

const APP = { id: 'app', when: { country: ['JP'] }, then: { url: 'https://example.com/app' } }
const JAPAN = { name: 'A phone in Japan gets the app', visitor: { country: 'JP' } }
const PHONE = { name: 'An iPhone elsewhere', visitor: { agent: AGENTS.iPhone } }

onEachEngine('the examples of a link', (at) => {
  let number = 0

  async function linkWith(rules: readonly object[], examples: readonly object[]) {
    number += 1
    const { id } = await createLink(at.api, { key: `examples-${number}` })
    expectStatus(await at.api.put(`/links/${id}/rules`, { rules }), 200)
    expectStatus(await at.api.put(`/links/${id}/examples`, { examples }), 200)
    const expectations = async () =>
      (await at.api.get(`/links/${id}/examples`)).body.examples.map(
        ({ expected }: { expected: { location: string } }) => expected.location,
      )
    return { id, rules: `/links/${id}/rules`, expectations }
  }

  test('keep what they get, and a change of it is refused until it is accepted', async () => {
    const { id, rules, expectations } = await linkWith([APP], [JAPAN, PHONE])
    const both = ['https://example.com/app', 'https://example.com/there']
    assert.deepEqual(await expectations(), both)
    const refused = await at.api.put(rules, { rules: [] })
    expectProblem(refused, 'examples_changed')
    const before = { kind: 'redirect', location: both[0], rule: 'app', variant: null }
    const after = { kind: 'redirect', location: both[1], rule: null, variant: null }
    const { examples } = refused.body.details
    assert.deepEqual(examples, [{ name: JAPAN.name, before, after }])
    assert.match(refused.body.message, /A phone in Japan gets the app/)
    assert.deepEqual((await at.api.get(rules)).body.rules, [APP])

    expectStatus(await at.api.put(`${rules}?accept_changes=true`, { rules: [] }), 200)
    assert.deepEqual(await expectations(), [both[1], both[1]])
    const events = (await at.api.get(`/events?subject=${id}`)).body.data
    assert.equal(events[1].after.examples, 'changed')
    assert.equal('examples' in events[0].after, false)
  })

  test('are tried before each change of a destination, also of many links', async () => {
    const { id, expectations } = await linkWith([], [PHONE])
    const url = 'https://example.com/elsewhere'
    expectProblem(await at.api.patch(`/links/${id}`, { url }), 'examples_changed')
    expectProblem(await at.api.patch(`/links/${id}`, { ios: url }), 'examples_changed')
    const bulk = { action: 'update', ids: [id], changes: { ios: url } }
    const [failed] = expectStatus(await at.api.post('/links/bulk', bulk), 200).body.results
    assert.equal(failed.error.code, 'examples_changed')
    const accepted = await at.api.post('/links/bulk?accept_changes=true', bulk)
    assert.equal(accepted.body.succeeded, 1)
    assert.deepEqual(await expectations(), [url])
    // Of an owner who closes the link it is clear that all visitors are meant.
    const expires_at = '2020-01-01T00:00:00Z'
    expectStatus(await at.api.patch(`/links/${id}`, { expires_at }), 200)
    assert.deepEqual(await expectations(), [null])
  })

  test('ask nothing where visitors go the same way by rules with other ids', async () => {
    const { rules } = await linkWith([APP], [JAPAN])
    const { id: _, ...again } = APP
    expectStatus(await at.api.put(rules, { rules: [again] }), 200)
    const other = { ...APP, id: 'other' }
    expectStatus(await at.api.put(rules, { rules: [other] }), 200)
    // A rule that takes the visitor from another one, to the same place.
    const first = { ...APP, id: 'first' }
    expectProblem(await at.api.put(rules, { rules: [first, other] }), 'examples_changed')
  })

  test('are tried with the path of a key that has placeholders', async () => {
    const url = 'https://example.com/{path}'
    const { id } = await createLink(at.api, { key: 'examples/{part}/x', url })
    const examples = `/links/${id}/examples`
    expectStatus(await at.api.put(examples, { examples: [PHONE] }), 200)
    const before = (await at.api.get(examples)).body
    // It stays `capture`.
    const { body } = expectStatus(await at.api.patch(`/links/${id}/options`, { path: 'none' }), 200)
    assert.equal(body.path, 'capture')
    assert.deepEqual((await at.api.get(examples)).body, before)
  })

  test('take expectations that hold after the change that they are for', async () => {
    const expected = { location: APP.then.url, rule: APP.id }
    const { id, rules, expectations } = await linkWith([], [{ ...JAPAN, expected }])
    assert.deepEqual(await expectations(), [APP.then.url])
    expectStatus(await at.api.patch(`/links/${id}`, { tags: ['other'] }), 200)
    assert.deepEqual(await expectations(), [APP.then.url])
    expectStatus(await at.api.put(rules, { rules: [APP] }), 200)
    expectProblem(await at.api.put(rules, { rules: [] }), 'examples_changed')
  })

  test('are tried by the rules of the set that the link uses', async () => {
    const { id } = await linkWith([], [JAPAN])
    const set = expectStatus(
      await at.api.post('/rule-sets', { name: `Set ${number}`, rules: [APP] }),
      201,
    ).body
    const options = `/links/${id}/options`
    expectProblem(await at.api.patch(options, { rule_set: set.id }), 'examples_changed')
    const accept = `${options}?accept_changes=true`
    expectStatus(await at.api.patch(accept, { rule_set: set.id }), 200)
    const { body } = await at.api.post(`/links/${id}/explain`, { country: 'JP' })
    assert.deepEqual(
      [body.decided_by.rule, body.rules[0].of, body.examples[0].as_expected],
      [APP.id, 'rule_set', true],
    )
  })

  test('are tried by the rules of the set of the domain, when saved and when explained', async () => {
    const domain = await createDomain(at.api, { domain: 'examples-set.localhost' })
    const set = { name: 'Set of a domain', rules: [APP] }
    const { id: rule_set } = expectStatus(await at.api.post('/rule-sets', set), 201).body
    const settings = `/domains/${domain.id}/settings`
    expectStatus(await at.api.patch(settings, { rule_set }), 200)
    const { id } = await createLink(at.api, { domain: 'examples-set.localhost', key: 'one' })
    const path = `/links/${id}/examples`
    const saved = expectStatus(await at.api.put(path, { examples: [JAPAN] }), 200).body
    assert.equal(saved.examples[0].expected.rule, APP.id)
    const { body } = await at.api.post(`/links/${id}/explain`, {})
    assert.equal(body.examples[0].as_expected, true)
  })

  test('are shown in explanations with what a draft would give them', async () => {
    const { id } = await linkWith([APP], [JAPAN])
    const explain = async (body: object) =>
      (await at.api.post(`/links/${id}/explain`, body)).body.examples
    const [kept] = await explain({})
    assert.equal(kept.as_expected, true)
    const [changed] = await explain({ rules: [] })
    assert.deepEqual(
      [changed.as_expected, changed.result.location],
      [false, 'https://example.com/there'],
    )
  })

  test('are checked, have a version, and are part of the quota', async () => {
    const { id } = await linkWith([], [JAPAN])
    const path = `/links/${id}/examples`
    const wrong = [
      { name: 'a', visitor: { address: 'x', at: 'y' } },
      { name: 'b', visitor: {} },
    ]
    expectInvalid(
      await at.api.put(path, { examples: wrong }),
      'examples.0.visitor.address',
      'examples.0.visitor.at',
    )
    expectInvalid(await at.api.put(path, { examples: [JAPAN, JAPAN] }), 'examples')
    const many = Array.from({ length: 21 }, (_, nth) => ({ name: `${nth}` }))
    expectInvalid(await at.api.put(path, { examples: many }), 'examples')
    const large = many.slice(1).map((each) => ({ ...each, visitor: { query: 'q'.repeat(2_000) } }))
    expectInvalid(await at.api.put(path, { examples: large }), 'examples')
    const tag = String((await at.api.get(`/links/${id}`)).headers.get('etag'))
    const headers = { 'content-type': 'application/json', 'if-match': tag }
    const put = () => at.api.send('PUT', path, { headers, body: '{"examples":[]}' })
    assert.deepEqual([(await put()).status, (await put()).status], [200, 412])
    assert.deepEqual((await at.api.get(path)).body, { examples: [] })
  })

  test('are in exports of the workspace', async () => {
    const { id } = await linkWith([APP], [JAPAN])
    const url = `${at.service.baseUrl}/api/v1/export`
    const exported = await fetch(url, { headers: { authorization: `Bearer ${at.token}` } })
    const lines = (await exported.text()).trim().split('\n')
    const link = lines.map((line) => JSON.parse(line)).find((line) => line.id === id)
    assert.equal(link.examples[0].expected.location, APP.then.url)
  })
})
