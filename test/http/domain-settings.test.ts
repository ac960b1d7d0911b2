import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { TIMESTAMP } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { jsonRequest, UNKNOWN_ID } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'

const NO_UTM = {
  ...{ utm_source: null, utm_medium: null, utm_campaign: null },
  ...{ utm_term: null, utm_content: null, utm_name: null },
}
const NONE = {
  root_url: null,
  robots: null,
  utm: NO_UTM,
  rule_set: null,
  track_conversions: null,
  apple_app_site_association: null,
  assetlinks: null,
  managed_by: null,
  managed_at: null,
  updated_at: null,
}
const APPLE = {
  applinks: {
    details: [
      {
        appIDs: ['ABCDE12345.com.example.app'],
        components: [
          { '/': '/buy/*', '?': { id: '????' }, comment: 'one product' },
          { '#': 'no_universal_links', exclude: true },
        ],
      },
    ],
  },
  webcredentials: { apps: ['ABCDE12345.com.example.app'] },
}
const FINGERPRINT = Array.from({ length: 32 }, (_, nth) => `${nth % 10}F`).join(':')
const statementWith = (target: object) => [
  {
    relation: ['delegate_permission/common.handle_all_urls'],
    target: {
      namespace: 'android_app',
      package_name: 'com.example.app',
      sha256_cert_fingerprints: [FINGERPRINT],
      ...target,
    },
  },
]
const LINKS = statementWith({})

onEachEngine('the settings of a domain', (stage) => {
  let number = 0

  async function newDomain() {
    number += 1
    const domain = `settings-${number}.localhost`
    const { id } = expectStatus(await stage.api.post('/domains', { domain }), 201).body
    return { id, domain, path: `/domains/${id}/settings` }
  }

  test('are those of a new domain at first', async () => {
    const { domain, path } = await newDomain()
    assert.deepEqual(expectStatus(await stage.api.get(path), 200).body, { domain, ...NONE })
  })

  test('are replaced by PUT, and changed one by one by PATCH, with events', async () => {
    const { id, domain, path } = await newDomain()
    const sent = {
      root_url: 'https://e.example',
      robots: 'index',
      utm: { utm_source: 'short', utm_medium: null },
      apple_app_site_association: APPLE,
      assetlinks: LINKS,
    }
    const put = expectStatus(await stage.api.put(path, sent), 200).body
    const { updated_at } = put
    assert.match(updated_at, TIMESTAMP)
    const stored = {
      ...{ domain, ...NONE, updated_at, ...sent, root_url: 'https://e.example/' },
      utm: { ...NO_UTM, utm_source: 'short' },
    }
    assert.deepEqual(put, stored)
    assert.deepEqual(expectStatus(await stage.api.get(path), 200).body, stored)
    const changes = { robots: null, utm: null, assetlinks: null }
    const patched = expectStatus(await stage.api.patch(path, changes), 200).body
    const then = { updated_at: patched.updated_at }
    assert.deepEqual(patched, { ...stored, robots: null, utm: NO_UTM, assetlinks: null, ...then })
    assert.ok(patched.updated_at > updated_at)
    // As it was received.
    assert.deepEqual(expectStatus(await stage.api.put(path, patched), 200).body, patched)
    const cleared = expectStatus(await stage.api.put(path, {}), 200).body
    assert.deepEqual({ ...cleared, updated_at: null }, { domain, ...NONE })

    const admin = await stage.service.api('acme', ['workspace:admin'])
    const { data } = (await admin.get(`/events?subject=${id}&type=domain.updated`)).body
    const [, second, first] = data
    assert.deepEqual(first.before, {
      ...{ root_url: null, robots: null, utm: null },
      ...{ apple_app_site_association: null, assetlinks: null },
    })
    assert.deepEqual(first.after.utm, { utm_source: 'short' })
    assert.match(first.after.assetlinks, /^\d+ bytes, SHA-256 [0-9a-f]{64}$/)
    assert.deepEqual(second.after, { robots: null, utm: null, assetlinks: null })
    const shown = expectStatus(await stage.api.get(`/domains/${id}`), 200).body
    assert.equal(Object.keys(shown).length, 8)
  })

  test('keep a change that another one has overtaken from being lost, by If-Match', async () => {
    const { path } = await newDomain()
    const tag = (await stage.api.get(path)).headers.get('etag') ?? ''
    const send = (robots: string) =>
      stage.api.send('PATCH', path, jsonRequest(JSON.stringify({ robots }), { 'if-match': tag }))
    const next = expectStatus(await send('index'), 200).headers.get('etag')
    assert.notEqual(next, tag)
    expectProblem(await send('disallow'), 'precondition_failed')
    assert.equal((await stage.api.get(path)).headers.get('etag'), next)
  })

  test('name a rule set of the workspace, which is not deleted meanwhile', async () => {
    const { path, domain } = await newDomain()
    const other = await stage.service.api('other')
    const foreign = expectStatus(await other.post('/rule-sets', { name: 'foreign' }), 201).body
    for (const rule_set of [foreign.id, UNKNOWN_ID]) {
      expectInvalid(await stage.api.patch(path, { rule_set }), 'rule_set')
    }
    const set = expectStatus(await stage.api.post('/rule-sets', { name: 'default' }), 201).body
    expectStatus(await stage.api.patch(path, { rule_set: set.id }), 200)
    const refused = expectStatus(await stage.api.delete(`/rule-sets/${set.id}`), 409).body
    assert.equal(
      refused.message,
      `This rule set is the default of ${domain}. Take it from these domains first.`,
    )
    assert.deepEqual(refused.details.domains, [domain])
    expectStatus(await stage.api.patch(path, { rule_set: null }), 200)
    expectStatus(await stage.api.delete(`/rule-sets/${set.id}`), 200)
  })

  test('stay when the domain is renamed, and go with it', async () => {
    const { id, path } = await newDomain()
    expectStatus(await stage.api.patch(path, { robots: 'disallow' }), 200)
    expectStatus(await stage.api.patch(`/domains/${id}`, { domain: 'renamed.localhost' }), 200)
    const renamed = expectStatus(await stage.api.get(path), 200).body
    assert.deepEqual([renamed.domain, renamed.robots], ['renamed.localhost', 'disallow'])
    expectStatus(await stage.api.delete(`/domains/${id}`), 200)
    expectProblem(await stage.api.get(path), 'not_found')
  })

  const app = (fields: object) => ({
    applinks: { details: [{ appIDs: ['ABCDE12345.a.b'], ...fields }] },
  })
  for (const [field, body] of [
    ['root_url', { root_url: 'nowhere' }],
    ['robots', { robots: 'maybe' }],
    ['utm.source', { utm: { source: 'x' } }],
    ['colour', { colour: 'red' }],
    ['apple_app_site_association', { apple_app_site_association: {} }],
    [
      'apple_app_site_association.applinks.details.0',
      { apple_app_site_association: { applinks: { details: [{}] } } },
    ],
    [
      'apple_app_site_association.applinks.details.0.appIDs.0',
      { apple_app_site_association: app({ appIDs: ['com.example.app'] }) },
    ],
    [
      'apple_app_site_association.applinks.details.0.components.0./',
      { apple_app_site_association: app({ components: [{ '/': 1 }] }) },
    ],
    [
      'apple_app_site_association.applinks.details.0.component',
      { apple_app_site_association: app({ component: [] }) },
    ],
    [
      'apple_app_site_association',
      {
        apple_app_site_association: app({
          paths: Array.from({ length: 140 }, () => 'x'.repeat(1_000)),
        }),
      },
    ],
    ['assetlinks', { assetlinks: {} }],
    ['assetlinks', { assetlinks: [] }],
    ['assetlinks.0.relation', { assetlinks: [{ ...LINKS[0], relation: [] }] }],
    ['assetlinks.0.relation.0', { assetlinks: [{ ...LINKS[0], relation: ['all'] }] }],
    ['assetlinks.0.target.package_name', { assetlinks: statementWith({ package_name: 'app' }) }],
    [
      'assetlinks.0.target.sha256_cert_fingerprints.0',
      { assetlinks: statementWith({ sha256_cert_fingerprints: [FINGERPRINT.toLowerCase()] }) },
    ],
    [
      'assetlinks.0.target.sha256_cert_fingerprints',
      { assetlinks: statementWith({ sha256_cert_fingerprints: [] }) },
    ],
  ] as const) {
    test(`return 422 on ${field} for ${JSON.stringify(body).slice(0, 80)}`, async () => {
      const { path } = await newDomain()
      expectInvalid(await stage.api.patch(path, body), field)
    })
  }

  test('lead no visitor of the root back to it', async () => {
    const { path, domain } = await newDomain()
    const root_url = `http://${domain}:${stage.service.port}/?again`
    expectInvalid(await stage.api.patch(path, { root_url }), 'root_url')
  })
})
