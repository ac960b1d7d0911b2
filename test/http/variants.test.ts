import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unique } from '../storage/samples.ts'
import { expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const PERIOD = 'from=2026-03-01&to=2026-04-01'
const AT = Date.UTC(2026, 2, 20) * 1_000

onEachEngine('GET /api/v1/links/{id}/variants', (stage) => {
  async function splitLink() {
    const link = await createLink(stage.api)
    const variant = (name: string) => ({ name, url: `https://example.com/${name}`, weight: 1 })
    const rules = [
      { id: 'phones', when: { device: ['phone'] }, then: { url: 'https://example.com/p' } },
      { id: 'ab', name: 'Two pages', then: { split: [variant('A'), variant('B')] } },
    ]
    expectStatus(await stage.api.put(`/links/${link.id}/rules`, { rules }), 200)
    const link_seq = await seqOf(stage.service, link)
    const visits = (name: string, count: number, fields: object = {}) =>
      Array.from({ length: count }, (_, nth) =>
        someClick({
          ...{ link_seq, at: AT + nth, visitor: nth + 1, rule: 'ab', variant: name, ...fields },
        }),
      )
    return { path: `/links/${link.id}/variants`, visits }
  }

  test('compares the visitors of each variant with the weights, and with the first', async () => {
    const { path, visits } = await splitLink()
    await takeIn(stage.service, [
      ...visits('A', 200),
      ...visits('A', 50),
      ...visits('B', 400),
      ...visits('B', 9, { flags: 1 }),
    ])
    const { data } = expectStatus(await stage.api.get(`${path}?${PERIOD}`), 200).body
    const [split] = data
    assert.equal(data.length, 1)
    assert.deepEqual(
      [split.rule, split.name, split.visitors, split.verdict],
      ['ab', 'Two pages', 600, 'weights_disagree'],
    )
    const [a, b] = split.variants
    assert.deepEqual([a.visitors, a.verdict, a.more, a.expected_share], [200, 'base', null, 0.5])
    assert.deepEqual([b.visitors, b.verdict], [400, 'more'])
    assert.ok(b.more.low > 50 && b.more.low < 100 && b.more.high > 100 && b.more.high < 160)
    assert.equal(
      b.text,
      `B: ${b.more.low.toFixed(1)} to ${b.more.high.toFixed(1)} % more visitors than A.`,
    )
  })

  test('compares the variants of the rule set of the link, and of that of its domain', async () => {
    const variant = (name: string) => ({ name, url: `https://example.com/${name}`, weight: 1 })
    const setWith = async (id: string) => {
      const rules = [{ id, then: { split: [variant('A'), variant('B')] } }]
      return expectStatus(await stage.api.post('/rule-sets', { name: id, rules }), 201).body
    }
    const [ofLink, ofDomain] = [await setWith('set-link'), await setWith('set-domain')]
    const domain = `${unique('sets')}.example`
    const { id } = expectStatus(await stage.api.post('/domains', { domain }), 201).body
    const link = await createLink(stage.api, { domain, rule_set: ofLink.id })
    const settings = { rule_set: ofDomain.id }
    expectStatus(await stage.api.patch(`/domains/${id}/settings`, settings), 200)
    const { data } = (await stage.api.get(`/links/${link.id}/variants?${PERIOD}`)).body
    assert.deepEqual(
      data.map(({ rule, rule_set }: { rule: string; rule_set: string }) => [rule, rule_set]),
      [
        ['set-link', ofLink.id],
        ['set-domain', ofDomain.id],
      ],
    )
  })

  test('says nothing without visitors, and has no entry without a split', async () => {
    const { path } = await splitLink()
    const { data } = expectStatus(await stage.api.get(`${path}?${PERIOD}`), 200).body
    assert.equal(data[0].verdict, 'too_few')
    assert.equal(data[0].variants[1].text, 'B: not enough data to say.')
    const plain = await createLink(stage.api)
    assert.deepEqual((await stage.api.get(`/links/${plain.id}/variants`)).body.data, [])
    expectInvalid(await stage.api.get(`${path}?from=yesterday`), 'from')
    const nowhere = '/links/00000000-0000-7000-8000-000000000000/variants'
    expectProblem(await stage.api.get(nowhere), 'not_found')
  })
})
