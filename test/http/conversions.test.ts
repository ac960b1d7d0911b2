import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../redirect/create.ts'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
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
    return { api, admin, id, key, location }
  }

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
})
