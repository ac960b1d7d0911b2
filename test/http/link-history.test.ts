import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { jsonRequest, UNKNOWN_ID } from '../support/operations.ts'

onEachEngine('the history of a link', (stage) => {
  const historyOf = async (id: string, query = '') =>
    expectStatus(await stage.api.get(`/links/${id}/history${query}`), 200).body
  const patch = async (id: string, fields: object) =>
    expectStatus(await stage.api.patch(`/links/${id}`, fields), 200)
  const revert = (id: string, body: object, query = '') =>
    stage.api.post(`/links/${id}/revert${query}`, body)

  /** A link with three changes after its creation; the numbers of the events, oldest first. */
  async function changedLink() {
    const link = await createLink(stage.api, { url: 'https://a.test/', tags: ['one'] })
    await patch(link.id, { url: 'https://b.test/', notes: 'first' })
    await patch(link.id, { url: 'https://c.test/' })
    await patch(link.id, { tags: ['two'], expires_at: '2040-01-01T00:00:00Z' })
    const { data } = await historyOf(link.id)
    const numbers = data.map(({ sequence }: { sequence: number }) => sequence).reverse()
    return { id: link.id, numbers: numbers as [number, number, number, number] }
  }

  test('has who changed what, the newest first, a page at a time', async () => {
    const { id, numbers } = await changedLink()
    const first = await historyOf(id, '?per_page=3')
    const [newest, , oldest] = first.data
    assert.deepEqual(Object.keys(newest), ['sequence', 'at', 'actor', 'type', 'before', 'after'])
    assert.deepEqual(newest.before, { expires_at: null, tags: ['one'] })
    assert.deepEqual(oldest.after, { notes: 'first', url: 'https://b.test/' })
    assert.equal(newest.actor.kind, 'token')
    assert.equal(first.meta.total, null)
    const rest = await historyOf(id, `?per_page=3&cursor=${first.meta.next_cursor}`)
    assert.deepEqual([rest.data.length, rest.data[0].type], [1, 'link.created'])
    assert.equal(rest.data[0].sequence, numbers[0])
    assert.equal(rest.meta.next_cursor, null)
  })

  test('is read with links:read, by the workspace of the link alone, and has no password', async () => {
    const link = await createLink(stage.api, { password: 'first-of-them' })
    await patch(link.id, { password: 'second-of-them' })
    const text = JSON.stringify(await historyOf(link.id))
    assert.doesNotMatch(text, /of-them|\$/)
    assert.match(text, /"password":"changed"/)
    const reader = await stage.service.api('acme', ['links:read'])
    expectStatus(await reader.get(`/links/${link.id}/history`), 200)
    expectStatus(await reader.post(`/links/${link.id}/revert`, { sequence: 1 }), 403)
    const stranger = await stage.service.api('strangers')
    expectStatus(await stranger.get(`/links/${link.id}/history`), 404)
    expectStatus(await stranger.post(`/links/${link.id}/revert`, { sequence: 1 }), 404)
    expectStatus(await stage.api.get(`/links/${UNKNOWN_ID}/history`), 404)
  })

  test('undoes one change, whatever happened to its fields since, by an event of its own', async () => {
    const { id, numbers } = await changedLink()
    const reverted = expectStatus(await revert(id, { sequence: numbers[1] }), 200)
    assert.equal(reverted.body.url, 'https://a.test/')
    assert.deepEqual(reverted.body.tags, ['two'])
    assert.equal((await historyOf(id)).data[0].before.notes, 'first')
    // What has these values already is not written again.
    const again = expectStatus(await revert(id, { sequence: numbers[1] }), 200)
    assert.deepEqual(again.body, reverted.body)
    assert.equal(again.headers.get('etag'), reverted.headers.get('etag'))
    assert.equal((await historyOf(id)).data.length, 5)
  })

  test('returns to the state after a change', async () => {
    const { id, numbers } = await changedLink()
    const { body } = expectStatus(await revert(id, { to: numbers[1] }), 200)
    assert.deepEqual([body.url, body.tags, body.expires_at], ['https://b.test/', ['one'], null])
    const created = expectStatus(await revert(id, { to: numbers[0] }), 200).body
    assert.equal(created.url, 'https://a.test/')
    assert.equal((await stage.api.get(`/links/${id}/options`)).body.notes, null)
  })

  test('sets back chosen fields, rules and options too', async () => {
    const { id } = await createLink(stage.api)
    const rules = [{ id: 'phones', when: { device: ['phone'] }, then: { url: 'https://m.test/' } }]
    expectStatus(await stage.api.put(`/links/${id}/rules`, { rules }), 200)
    expectStatus(await stage.api.put(`/links/${id}/rules`, { rules: [] }), 200)
    await patch(id, { archived: true, max_clicks: 3, notes: 'kept' })
    const { data } = await historyOf(id)
    const [options, removal] = data
    expectStatus(await revert(id, { sequence: removal.sequence }), 200)
    const restored = (await stage.api.get(`/links/${id}/rules`)).body.rules
    assert.deepEqual(restored, rules)
    const fields = ['archived', 'max_clicks']
    expectStatus(await revert(id, { sequence: options.sequence, fields }), 200)
    const after = (await stage.api.get(`/links/${id}/options`)).body
    assert.deepEqual([after.archived, after.max_clicks, after.notes], [false, null, 'kept'])
  })

  test('refuses by name what cannot be set back', async () => {
    const { id, numbers } = await changedLink()
    const refusals: readonly (readonly [Answer, string])[] = [
      [await revert(id, { sequence: numbers[0] }), 'sequence'],
      [await revert(id, { sequence: numbers[1], fields: ['clicks'] }), 'fields.0'],
    ]
    for (const [answer, field] of refusals) expectInvalid(answer, field)
    expectStatus(await revert(id, {}), 422)
    expectStatus(await revert(id, { sequence: numbers[1], to: numbers[1] }), 422)
    const other = await changedLink()
    expectStatus(await revert(id, { sequence: other.numbers[1] }), 404)

    await patch(id, { password: 'of-the-link', url: 'https://d.test/' })
    const [{ sequence }] = (await historyOf(id)).data
    expectInvalid(await revert(id, { sequence }), 'password')
    expectInvalid(await revert(id, { to: numbers[3] }), 'password')
    assert.equal((await showLink(stage.api, id)).url, 'https://d.test/')
    const reverted = expectStatus(await revert(id, { sequence, fields: ['url'] }), 200)
    assert.equal(reverted.body.url, 'https://c.test/')
    assert.notEqual(reverted.body.password, null)
  })

  test('refuses a key that was taken meanwhile, and a rule set that is gone', async () => {
    const { id } = await createLink(stage.api, { key: 'history-first' })
    await patch(id, { key: 'history-second' })
    await createLink(stage.api, { key: 'history-first' })
    const set = expectStatus(await stage.api.post('/rule-sets', { name: 'Gone', rules: [] }), 201)
    await patch(id, { rule_set: set.body.id })
    await patch(id, { rule_set: null })
    expectStatus(await stage.api.delete(`/rule-sets/${set.body.id}`), 200)
    const [unset, , renamed] = (await historyOf(id)).data
    expectInvalid(await revert(id, { sequence: renamed.sequence }), 'key')
    expectInvalid(await revert(id, { sequence: unset.sequence }), 'rule_set')
  })

  test('is reverted in the expected version alone', async () => {
    const { id, numbers } = await changedLink()
    const { headers } = await stage.api.get(`/links/${id}`)
    const etag = headers.get('etag') ?? ''
    const send = () =>
      stage.api.send(
        'POST',
        `/links/${id}/revert`,
        jsonRequest(JSON.stringify({ sequence: numbers[1] }), { 'if-match': etag }),
      )
    expectStatus(await send(), 200)
    expectStatus(await send(), 412)
  })
})
