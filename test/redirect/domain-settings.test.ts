import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'
import { createDomain, createLink } from './create.ts'

const APPLE_PATH = '/.well-known/apple-app-site-association'
const ANDROID_PATH = '/.well-known/assetlinks.json'
const APPLE = {
  applinks: { details: [{ appIDs: ['ABCDE12345.a.b'], components: [{ '/': '/ä*' }] }] },
}
const FINGERPRINT = Array.from({ length: 32 }, () => 'A0').join(':')
const LINKS = [
  {
    relation: ['delegate_permission/common.handle_all_urls'],
    target: {
      namespace: 'android_app',
      package_name: 'com.example.app',
      sha256_cert_fingerprints: [FINGERPRINT],
    },
  },
]

onEachEngine('the settings of a domain at a visit', (at) => {
  let number = 0

  async function newDomain(fields: object = {}) {
    number += 1
    const domain = `visited-${number}.localhost`
    const { id } = await createDomain(at.api, { domain, ...fields })
    const get = (path: string, options: object = {}) =>
      visit(at.service.port, path, { host: domain, ...options })
    const set = async (settings: object) =>
      expectStatus(await at.api.patch(`/domains/${id}/settings`, settings), 200)
    return { domain, get, set, id }
  }

  test('root_url gets the visitors of the bare host, not_found_url the others', async () => {
    const { get, set } = await newDomain({ not_found_url: 'https://e.example/none' })
    assert.equal((await get('/')).headers.location, 'https://e.example/none')
    await set({ root_url: 'https://e.example/root' })
    assert.equal((await get('/')).headers.location, 'https://e.example/root')
    assert.equal((await get('/no')).headers.location, 'https://e.example/none')
    await set({ root_url: null })
    assert.equal((await get('/')).headers.location, 'https://e.example/none')
  })

  test('robots decides what robots.txt and X-Robots-Tag say', async () => {
    const { domain, get, set } = await newDomain()
    await createLink(at.api, { domain, key: 'key' })
    const policy = async () => {
      const { status, body, headers } = await get('/robots.txt')
      const { headers: ofLink } = await get('/key')
      return [status, status === 200 ? body : '', headers['content-type'], ofLink['x-robots-tag']]
    }
    const text = 'text/plain; charset=utf-8'
    assert.deepEqual((await policy())[0], 404)
    assert.equal((await policy())[3], 'noindex')
    await set({ robots: 'noindex' })
    assert.deepEqual(await policy(), [200, 'User-agent: *\nAllow: /\n', text, 'noindex'])
    await set({ robots: 'index' })
    assert.deepEqual(await policy(), [200, 'User-agent: *\nAllow: /\n', text, undefined])
    await set({ robots: 'disallow' })
    assert.deepEqual(await policy(), [200, 'User-agent: *\nDisallow: /\n', text, 'noindex'])
  })

  test('utm sets what neither the link, nor its destination, nor the visitor has', async () => {
    const { domain, get, set } = await newDomain()
    const url = 'https://e.example/?utm_medium=own#end'
    await createLink(at.api, { domain, key: 'plain', url })
    await createLink(at.api, { domain, key: 'source', url, utm_source: 'link' })
    await set({ utm: { utm_source: 'a b', utm_medium: 'default', utm_term: 't' } })
    const leadsTo = async (path: string) => (await get(path)).headers.location
    assert.equal(
      await leadsTo('/plain'),
      'https://e.example/?utm_medium=own&utm_source=a%20b&utm_term=t#end',
    )
    assert.equal(
      await leadsTo('/source'),
      'https://e.example/?utm_medium=own&utm_source=link&utm_term=t#end',
    )
    assert.equal(
      await leadsTo('/plain?utm_term=mine'),
      'https://e.example/?utm_medium=own&utm_term=mine&utm_source=a%20b#end',
    )
  })

  test('rule_set is tried after the rules and the rule set of a link', async () => {
    const { domain, get, set } = await newDomain()
    const newSet = async (name: string, when: object) => {
      const rules = [{ when, then: { url: `https://e.example/${name}` } }]
      const body = { name: `${domain} ${name}`, rules }
      return expectStatus(await at.api.post('/rule-sets', body), 201).body.id
    }
    const own = await newSet('own', { language: ['de'] })
    await createLink(at.api, { domain, key: 'own', rule_set: own })
    await createLink(at.api, { domain, key: 'plain', utm_source: 's' })
    await set({ rule_set: await newSet('domain', { language: ['de', 'fr'] }) })
    const leadsTo = async (path: string, language: string) =>
      (await get(path, { headers: { 'accept-language': language } })).headers.location
    assert.equal(await leadsTo('/own', 'de'), 'https://e.example/own')
    assert.equal(await leadsTo('/own', 'fr'), 'https://e.example/domain')
    assert.equal(await leadsTo('/plain', 'de'), 'https://e.example/domain?utm_source=s')
    assert.equal(await leadsTo('/plain', 'en'), 'https://example.com/there?utm_source=s')
  })

  test('the documents of apps are served as they are, and change at once', async () => {
    const { domain, get, set } = await newDomain({ not_found_url: 'https://e.example/none' })
    await createLink(at.api, { domain, key: '.well-known/assetlinks.json' })
    assert.equal((await get(APPLE_PATH)).status, 302)
    assert.equal((await get(ANDROID_PATH)).status, 302)
    await set({ apple_app_site_association: APPLE, assetlinks: LINKS })
    for (const [path, document] of [
      [APPLE_PATH, APPLE],
      [ANDROID_PATH, LINKS],
    ] as const) {
      for (let time = 0; time < 2; time += 1) {
        const { status, headers, body } = await get(path)
        assert.deepEqual([status, headers['content-type']], [200, 'application/json'])
        assert.deepEqual(JSON.parse(body), document)
        assert.equal(Number(headers['content-length']), Buffer.byteLength(body))
      }
    }
    const head = await get(APPLE_PATH, { method: 'HEAD' })
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.equal((await get(APPLE_PATH, { method: 'POST' })).status, 405)
    const changed = [{ ...LINKS[0], relation: ['delegate_permission/common.get_login_creds'] }]
    await set({ apple_app_site_association: null, assetlinks: changed })
    assert.equal((await get(APPLE_PATH)).status, 302)
    assert.deepEqual(JSON.parse((await get(ANDROID_PATH)).body), changed)
  })

  test('count for active domains alone, and for no other host', async () => {
    const { set } = await newDomain()
    await set({ robots: 'disallow', assetlinks: LINKS })
    const pending = { domain: 'pending.acme.test' }
    const { id } = await createDomain(at.api, pending)
    const settings = { root_url: 'https://e.example/', robots: 'disallow', assetlinks: LINKS }
    expectStatus(await at.api.patch(`/domains/${id}/settings`, settings), 200)
    for (const path of ['/', '/robots.txt', ANDROID_PATH]) {
      assert.equal((await visit(at.service.port, path, { host: pending.domain })).status, 404)
    }
    assert.equal((await visit(at.service.port, ANDROID_PATH)).status, 404)
  })
})
