import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../redirect/create.ts'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { jsonRequest } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { visit } from '../support/visit.ts'

const SHOP = 'https://example.com/shop'

onEachEngine('labels of visits', (at) => {
  async function workspaceOf(name: string) {
    const api = await at.service.api(name)
    const admin = await at.service.api(name, ['links:read', 'workspace:admin'])
    const { id, key } = await createLink(api, { key: `labels-${name}`, url: SHOP })
    const leadsTo = async (query: string) => {
      const answer = await visit(at.service.port, `/${key}${query}`)
      assert.equal(answer.status, 302)
      return answer.headers.location
    }
    return { api, admin, id, leadsTo }
  }

  test('are counted, and taken out of what goes on to the destination', async () => {
    const { api, id, leadsTo } = await workspaceOf('counted')
    assert.equal(await leadsTo('?via=newsletter'), SHOP)
    assert.equal(await leadsTo('?a=1&via=newsletter&b=2'), `${SHOP}?a=1&b=2`)
    assert.equal(await leadsTo('?via=Gr%C3%B6%C3%9Fe'), SHOP)
    assert.equal(await leadsTo(''), SHOP)
    await eventually(async () => {
      const { body } = await api.get(`/links/${id}/clicks?group_by=label`)
      const counts = body.data.map(({ value, clicks }: { value: string; clicks: number }) => [
        value,
        clicks,
      ])
      assert.deepEqual(
        counts.toSorted(),
        [
          ['Größe', 1],
          ['newsletter', 2],
          [null, 1],
        ].toSorted(),
      )
    })
    const filtered = await api.get('/clicks?label=newsletter&group_by=label')
    assert.equal(filtered.body.total.clicks, 2)
    const exported = await api.get(`/links/${id}/clicks/export?format=ndjson`)
    assert.equal(exported.status, 200)
  })

  test('are read from the parameter of the workspace, at once after a change', async () => {
    const { admin, leadsTo } = await workspaceOf('parameter')
    const shown = await admin.get('/labels')
    assert.deepEqual(shown.body, { parameter: 'via', labels: [] })
    const set = { parameter: 'src', labels: ['news', 'pod', 'news'] }
    const saved = expectStatus(await admin.put('/labels', set), 200)
    assert.deepEqual(saved.body, { parameter: 'src', labels: ['news', 'pod'] })
    assert.equal(await leadsTo('?via=a&src=b'), `${SHOP}?via=a`)
    const off = expectStatus(await admin.put('/labels', { parameter: null }), 200)
    assert.deepEqual(off.body, { parameter: null, labels: ['news', 'pod'] })
    assert.equal(await leadsTo('?via=a&src=b'), `${SHOP}?via=a&src=b`)
    const { data } = (await admin.get('/events?type=workspace.updated')).body
    assert.deepEqual(
      data.map(({ before, after }: { before: object; after: object }) => [before, after]),
      [
        [{ label_parameter: 'src' }, { label_parameter: null }],
        [
          { label_parameter: 'via', labels: [] },
          { label_parameter: 'src', labels: ['news', 'pod'] },
        ],
      ],
    )
  })

  test('decide by rules, which have none while labels are off', async () => {
    const { api, admin, id, leadsTo } = await workspaceOf('ruled')
    const news = 'https://example.com/news'
    const rules = [{ when: { label: ['news'] }, then: { url: news } }]
    expectStatus(await api.put(`/links/${id}/rules`, { rules }), 200)
    assert.equal(await leadsTo('?via=news&a=1'), `${news}?a=1`)
    expectStatus(await admin.put('/labels', { parameter: 'from' }), 200)
    assert.equal(await leadsTo('?from=news'), news)
    assert.equal(await leadsTo('?via=news'), `${SHOP}?via=news`)
    expectStatus(await admin.put('/labels', { parameter: null }), 200)
    assert.equal(await leadsTo('?from=news'), `${SHOP}?from=news`)
  })

  test('refuse parameters that others need, and texts that are no labels', async () => {
    const { admin } = await workspaceOf('refused')
    for (const parameter of ['qr', 'QR', 'utm_source', 'UTM_x', '', 'a b', '1a', 'a=b', 'ä']) {
      expectInvalid(await admin.put('/labels', { parameter }), 'parameter')
    }
    expectInvalid(await admin.put('/labels', {}), 'parameter')
    for (const label of ['', ' ', 'x'.repeat(81), 'a\u0000']) {
      expectInvalid(await admin.put('/labels', { parameter: 'via', labels: [label] }), 'labels.0')
    }
    const tooMany = Array.from({ length: 1_001 }, (_, nth) => `${nth}`)
    expectInvalid(await admin.put('/labels', { parameter: 'via', labels: tooMany }), 'labels')
    assert.deepEqual((await admin.get('/labels')).body, { parameter: 'via', labels: [] })
  })

  test('change only from the expected state, and by administrators of the workspace', async () => {
    const { admin } = await workspaceOf('guarded')
    const api = await at.service.api('guarded', ['links:read', 'links:write'])
    const ifMatch = { 'if-match': (await admin.get('/labels')).headers.get('etag') ?? '' }
    const write = (parameter: string) =>
      admin.send('PUT', '/labels', jsonRequest(JSON.stringify({ parameter }), ifMatch))
    expectStatus(await write('one'), 200)
    expectProblem(await write('two'), 'precondition_failed')
    expectProblem(await api.put('/labels', { parameter: 'x' }), 'missing_scope')
    assert.equal((await api.get('/labels')).body.parameter, 'one')
  })
})
