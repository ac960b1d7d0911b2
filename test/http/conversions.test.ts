import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { createLink } from '../redirect/create.ts'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const SHOP = 'https://shop.example.com/?a=1#top'

onEachEngine('conversions', (at) => {
  let number = 0

  /** A workspace of its own, with a link that is tracked or not. */
  async function newShop(link: object = {}) {
    number += 1
    const name = `shop-${number}`
    const api = await at.service.api(name)
    const admin = await at.service.api(name, ['links:read', 'workspace:admin'])
    const { id, key } = await createLink(api, { key: name, url: SHOP, ...link })
    const location = async (query = '') => {
      const answer = await visit(at.service.port, `/${key}${query}`)
      assert.equal(answer.status, 302)
      return new URL(answer.headers.location ?? '')
    }
    const token = async (query?: string) => (await location(query)).searchParams.get('tc') ?? ''
    const report = (body: object) => api.post('/conversions', body)
    return { api, admin, name, id, key, location, token, report }
  }

  const newTrackedShop = () => newShop({ track_conversions: true })

  test('give destinations a token where the link, its domain or its workspace says so', async () => {
    const { api, admin, id, location } = await newShop()
    assert.equal((await location()).href, SHOP)
    const settings = { track_conversions: true, parameter: 'tc', window_days: 30 }
    assert.deepEqual(expectStatus(await admin.get('/conversions/settings'), 200).body, {
      ...settings,
      track_conversions: false,
    })

    expectStatus(await api.patch(`/links/${id}/options`, { track_conversions: true }), 200)
    const [first, second] = [await location(), await location('?b=2&tc=old')]
    assert.match(first.href, /^https:\/\/shop\.example\.com\/\?a=1&tc=[\w-]{48}#top$/)
    assert.match(second.href, /\?a=1&b=2&tc=[\w-]{48}#top$/)
    assert.notEqual(first.searchParams.get('tc'), second.searchParams.get('tc'))

    expectStatus(await api.patch(`/links/${id}/options`, { track_conversions: null }), 200)
    assert.equal((await location()).href, SHOP)
    expectStatus(
      await admin.put('/conversions/settings', { track_conversions: true, parameter: 'ref' }),
      200,
    )
    assert.match((await location()).search, /^\?a=1&ref=[\w-]{48}$/)
    expectStatus(await api.patch(`/links/${id}/options`, { track_conversions: false }), 200)
    assert.equal((await location()).href, SHOP)
    const invalid = { track_conversions: true, parameter: 'utm_source', window_days: 0 }
    expectInvalid(await admin.put('/conversions/settings', invalid), 'parameter', 'window_days')
  })

  test('are tracked on a domain before its workspace', async () => {
    const domain = 'tracked.localhost'
    const { api } = await newShop()
    const { id } = expectStatus(await api.post('/domains', { domain }), 201).body
    expectStatus(await api.patch(`/domains/${id}/settings`, { track_conversions: true }), 200)
    await createLink(api, { domain, key: 'sale', url: SHOP })
    const answer = await visit(at.service.port, '/sale', { host: domain })
    assert.match(answer.headers.location ?? '', /&tc=/)
  })

  test('are explained, with a placeholder that is no token', async () => {
    const { api, id } = await newShop({ track_conversions: true })
    const { body } = await api.post(`/links/${id}/explain`, {})
    assert.equal(body.location, 'https://shop.example.com/?a=1&tc=(token)#top')
    assert.equal(body.url.token, 'tc')
  })

  test('are recorded with what the token says, and listed', async () => {
    const { api, id, key, token, report } = await newTrackedShop()
    const order = { event: 'order', value: 7490, currency: 'eur' }
    const { body } = expectStatus(await report({ token: await token('?via=news'), ...order }), 200)
    assert.match(body.id, /^[0-9a-f-]{36}$/)
    assert.ok(body.clicked_at <= body.occurred_at)
    const { id: _, clicked_at, occurred_at, recorded_at, ...rest } = body
    assert.deepEqual(rest, {
      ...{ event: 'order', value: 7490, currency: 'EUR', link_id: id, domain: 'localhost', key },
      ...{ country: null, rule: null, variant: null, label: 'news' },
    })
    expectStatus(await report({ token: await token(), event: 'sign-up' }), 200)
    const first = expectStatus(await api.get('/conversions?per_page=1'), 200).body
    assert.equal(first.data[0].event, 'sign-up')
    const next = await api.get(
      `/conversions?per_page=1&cursor=${encodeURIComponent(first.meta.next_cursor)}`,
    )
    assert.deepEqual([next.body.data, next.body.meta.next_cursor], [[body], null])
    assert.deepEqual((await api.get('/conversions?event=order&label=news')).body.data, [body])
    assert.deepEqual((await api.get('/conversions?label=')).body.data.length, 1)
    const csv = (await api.get('/conversions/export')).body
    assert.equal(csv.split('\r\n').length, 4)
    assert.match(csv, /"order","7490","EUR"/)
  })

  test('count once for a key, also when it is sent many times at once', async () => {
    const { api, token, report } = await newTrackedShop()
    const order = { token: await token(), event: 'order', idempotency_key: 'order-1' }
    const answers = await Promise.all(Array.from({ length: 20 }, () => report(order)))
    for (const answer of answers) {
      assert.deepEqual(expectStatus(answer, 200).body, answers[0]?.body)
    }
    expectProblem(await report({ ...order, event: 'other' }), 'idempotency_conflict')
    expectStatus(await report({ ...order, idempotency_key: 'order-2' }), 200)
    const { body } = await api.get('/conversions?group_by=event')
    assert.deepEqual([body.total.conversions, body.total.visits], [2, 1])
    assert.deepEqual((await api.get('/usage')).body.conversions, { used: 2, limit: 1_000_000 })
  })

  test('are compared by the variants of a split', async () => {
    const { api, id, token, report } = await newTrackedShop()
    const split = ['A', 'B'].map((name) => ({ name, url: `${SHOP}${name}`, weight: 1 }))
    const rules = [{ id: 'ab', when: {}, then: { split } }]
    expectStatus(await api.put(`/links/${id}/rules`, { rules }), 200)
    const { body } = expectStatus(await report({ token: await token(), event: 'order' }), 200)
    assert.equal(body.rule, 'ab')
    const [compared] = expectStatus(await api.get(`/links/${id}/variants`), 200).body.data
    const converted = compared.variants.filter(
      (each: { name: string }) => each.name === body.variant,
    )
    assert.deepEqual([converted[0].conversions, converted[0].rate], [1, null])
  })

  test('are refused for a token that is forged, cut, foreign, or of a deleted link', async () => {
    const [shop, other] = [await newTrackedShop(), await newTrackedShop()]
    const token = await shop.token()
    const forged = (token.startsWith('A') ? 'B' : 'A') + token.slice(1)
    for (const wrong of [forged, token.slice(0, -4), 'x', await other.token()]) {
      expectInvalid(await shop.report({ token: wrong, event: 'order' }), 'token')
    }
    expectInvalid(await shop.report({ token, event: 'order', value: 5 }), 'currency')
    expectInvalid(await shop.report({ token, event: 'order', currency: 'EUR' }), 'currency')
    const early = { token, event: 'order', occurred_at: '2020-01-01T00:00:00Z' }
    expectInvalid(await shop.report(early), 'occurred_at')
    expectStatus(await shop.api.delete(`/links/${shop.id}`), 200)
    expectInvalid(await shop.report({ token, event: 'order' }), 'token')
  })

  test('are recorded after tracking has ended, and not by a token that has ended', async () => {
    const { api, admin, id, token, report } = await newTrackedShop()
    const sent = { token: await token(), event: 'order' }
    expectStatus(await api.patch(`/links/${id}/options`, { track_conversions: false }), 200)
    assert.equal(await token(), '')
    expectStatus(await report(sent), 200)
    for (const { id: each, scopes } of expectStatus(await admin.get('/tokens'), 200).body.data) {
      if (!scopes.includes('conversions:write')) continue
      expectStatus(await admin.delete(`/tokens/${each}`), 200)
    }
    expectProblem(await report(sent), 'unauthorized')
  })

  test('get the instant of the visit when the clock of the reporting server is behind', async () => {
    const { token, report } = await newTrackedShop()
    const sent = { token: await token(), event: 'sign-up' }
    const occurred_at = new Date(Date.now() - 60_000).toISOString()
    const { body } = expectStatus(await report({ ...sent, occurred_at }), 200)
    assert.equal(body.occurred_at, body.clicked_at)
  })

  test('fail where the new ones of a request would pass the quota, and repeat those that were recorded', async () => {
    const { api, name, token, report } = await newTrackedShop()
    const { workspaces } = at.service.instance
    const { id } = await workspaces.get(name)
    await workspaces.limit(commandLine(id), { conversions: 2 })
    const order = { token: await token(), event: 'order' }
    expectStatus(await report({ ...order, idempotency_key: 'a' }), 200)
    const keys = ['a', 'b', 'b', 'c']
    const { body } = expectStatus(
      await report([...keys.map((key) => ({ ...order, idempotency_key: key })), { token: 'x' }]),
      200,
    )
    const states = body.results.map(({ status }: { status: string }) => status)
    assert.deepEqual(states, ['repeated', 'failed', 'failed', 'failed', 'failed'])
    assert.match(JSON.stringify(body.results[2].error), /quota/)
    expectStatus(await report({ ...order, idempotency_key: 'b' }), 200)
    expectProblem(await report({ ...order, idempotency_key: 'c' }), 'validation_failed')
    assert.deepEqual((await api.get('/usage')).body.conversions, { used: 2, limit: 2 })
  })

  test('are recorded in an array, where one that fails stops no other', async () => {
    const { api, token, report } = await newTrackedShop()
    const good = { token: await token(), event: 'order', idempotency_key: 'a' }
    const many = Array.from({ length: 998 }, (_, nth) => ({ ...good, idempotency_key: `k${nth}` }))
    const { body } = expectStatus(await report([good, { token: 'x' }, ...many]), 200)
    assert.deepEqual([body.recorded, body.repeated, body.failed], [999, 0, 1])
    const [, failed] = body.results
    assert.deepEqual(Object.keys(failed.error.errors), ['event'])
    const again = expectStatus(await report([good, good]), 200).body
    assert.equal(again.repeated, 2)
    assert.deepEqual(again.results[1].conversion, body.results[0].conversion)
    assert.equal((await api.get('/usage')).body.conversions.used, 999)
  })

  test('are added up by currency, interval and what clicks are grouped by', async () => {
    const { api, id, token, report } = await newTrackedShop()
    const amounts = [
      ['order', 1000, 'EUR'],
      ['order', 500, 'EUR'],
      ['order', 700, 'CHF'],
      ['refund', -200, 'EUR'],
    ] as const
    for (const [event, value, currency] of amounts) {
      expectStatus(await report({ token: await token('?via=a'), event, value, currency }), 200)
    }
    const eur = { currency: 'EUR', conversions: 2, value: 1300, refunds: 1, refunded: -200 }
    const chf = { currency: 'CHF', conversions: 1, value: 700, refunds: 0, refunded: 0 }
    const total = { conversions: 3, refunds: 1, values: [eur, chf], visits: 3 }
    const { body } = expectStatus(await api.get('/conversions?interval=day'), 200)
    assert.deepEqual([body.total, body.points.length, body.groups], [total, 30, null])
    const { start: _, ...today } = body.points.at(-1)
    assert.deepEqual({ ...today, visits: 3 }, total)
    const byLink = (await api.get('/conversions?group_by=link')).body.groups
    assert.deepEqual([byLink[0].link.id, byLink[0].visits], [id, 3])
    const byLabel = (await api.get('/conversions?group_by=label&interval=month&limit=1')).body
    assert.deepEqual([byLabel.groups[0].value, byLabel.rest.values_left], ['a', 0])
    const ofEvent = (await api.get('/conversions?group_by=currency&event=order')).body
    assert.deepEqual(
      ofEvent.groups.map(({ value, visits }: { value: string; visits: number }) => [value, visits]),
      [
        ['EUR', 2],
        ['CHF', 1],
      ],
    )
    assert.equal((await api.get('/conversions?group_by=tag')).body.groups[0].value, null)
    assert.deepEqual((await api.get('/conversions?group_by=event&tag=x')).body.groups, [])
  })
})

test('a token is accepted to the end of the window of its workspace', async (t) => {
  const clock = fakeClock()
  const service = await startService(SQLITE, {}, { clock })
  t.after(() => service.stop())
  const api = await service.api('shop', ['links:read', 'links:write', 'conversions:write'])
  const admin = await service.api('shop', ['workspace:admin'])
  await createLink(api, { key: 'shop', url: SHOP, track_conversions: true })
  const { headers } = await visit(service.port, '/shop')
  const token = new URL(headers.location ?? '').searchParams.get('tc')
  const report = () => api.post('/conversions', { token, event: 'order', idempotency_key: 'a' })
  const setWindow = async (window_days: number) =>
    expectStatus(
      await admin.put('/conversions/settings', { track_conversions: false, window_days }),
      200,
    )
  const day = 24 * 60 * 60
  clock.move(30 * day)
  expectStatus(await api.post('/conversions', { token, event: 'last' }), 200)
  clock.move(1)
  expectInvalid(await report(), 'token')
  await setWindow(31)
  const { body } = expectStatus(await report(), 200)
  await setWindow(1)
  assert.deepEqual(expectStatus(await report(), 200).body, body)
})
