import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'

const EMPTY = {
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  utm_name: null,
  managed_by: null,
  managed_at: null,
}

onEachEngine('UTM templates', (stage) => {
  test('are created, listed by name, shown, changed and deleted, each with an event', async () => {
    const api = await stage.service.api('life')
    const sent = { name: 'Newsletter', utm_source: 'mail', utm_medium: 'email' }
    const created = expectStatus(await api.post('/utm-templates', sent), 201).body
    const { id, workspace_id, created_at, updated_at, ...fields } = created
    assert.deepEqual(fields, { ...EMPTY, ...sent })
    expectStatus(await api.post('/utm-templates', { name: 'autumn' }), 201)
    const { data, meta } = expectStatus(await api.get('/utm-templates'), 200).body
    assert.deepEqual(
      [data.map(({ name }: { name: string }) => name), meta.total],
      [['autumn', 'Newsletter'], 2],
    )
    assert.equal(
      expectStatus(await api.get('/utm-templates?per_page=1&page=2'), 200).body.data[0].id,
      id,
    )
    assert.deepEqual(expectStatus(await api.get(`/utm-templates/${id}`), 200).body, created)

    const patched = await api.patch(`/utm-templates/${id}`, { utm_source: null, utm_term: 'x' })
    const changed = expectStatus(patched, 200).body
    assert.deepEqual(changed, {
      ...created,
      utm_source: null,
      utm_term: 'x',
      updated_at: changed.updated_at,
    })
    assert.ok(changed.updated_at > updated_at)
    expectStatus(await api.put(`/utm-templates/${id}`, { name: 'newsletter' }), 200)
    const deleted = expectStatus(await api.delete(`/utm-templates/${id}`), 200)
    assert.deepEqual(deleted.body, { message: 'UTM template deleted' })
    expectProblem(await api.get(`/utm-templates/${id}`), 'not_found')
    expectProblem(await api.delete(`/utm-templates/${id}`), 'not_found')

    const admin = await stage.service.api('life', ['workspace:admin'])
    const events = expectStatus(await admin.get(`/events?subject=${id}`), 200).body.data
    assert.deepEqual(
      events.map(({ type }: { type: string }) => type),
      [
        'utm_template.deleted',
        'utm_template.updated',
        'utm_template.updated',
        'utm_template.created',
      ],
    )
    assert.deepEqual(events[2].before, { utm_source: 'mail', utm_term: null })
  })

  test('have names of their own in their workspace, whatever the letter case', async () => {
    const { id } = expectStatus(await stage.api.post('/utm-templates', { name: 'One' }), 201).body
    expectInvalid(await stage.api.post('/utm-templates', { name: 'ONE' }), 'name')
    const two = expectStatus(await stage.api.post('/utm-templates', { name: 'Two' }), 201).body
    expectInvalid(await stage.api.patch(`/utm-templates/${two.id}`, { name: 'one' }), 'name')
    expectStatus(await stage.api.patch(`/utm-templates/${id}`, { name: 'one' }), 200)
    const other = await stage.service.api('other')
    expectStatus(await other.post('/utm-templates', { name: 'One' }), 201)
    const both = await Promise.all(
      [1, 2].map(() => stage.api.post('/utm-templates', { name: 'At once' })),
    )
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 422])
  })

  test('are created once for one Idempotency-Key', async () => {
    const send = () =>
      stage.api.post('/utm-templates', { name: 'Repeated' }, { 'idempotency-key': 'template' })
    const first = expectStatus(await send(), 201).body
    assert.deepEqual(expectStatus(await send(), 201).body, first)
  })

  test('are at most 500 in a workspace', async () => {
    const api = await stage.service.api('many')
    const { workspace_id } = expectStatus(await api.post('/utm-templates', { name: '0' }), 201).body
    await stage.service.instance.store.write(async ({ utmTemplates }) => {
      for (let nth = 1; nth < 500; nth += 1) {
        const id = `00000000-0000-7000-8000-${String(nth).padStart(12, '0')}`
        const times = { created_at: nth, updated_at: nth }
        await utmTemplates.insert({ ...EMPTY, ...times, id, workspace_id, name: `${nth}` })
      }
    })
    expectInvalid(await api.post('/utm-templates', { name: 'one more' }), 'name')
  })

  for (const [body, field] of [
    [{}, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'x', utm_source: 'y'.repeat(501) }, 'utm_source'],
    [{ name: 'x', url: 'y' }, 'url'],
  ] as const) {
    test(`return 422 on ${field} for ${JSON.stringify(body).slice(0, 40)}`, async () => {
      expectInvalid(await stage.api.post('/utm-templates', body), field)
    })
  }
})
