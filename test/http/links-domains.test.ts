import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, postLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'

/** The status of each domain that the workspace has claimed. */
async function claims(api: Api): Promise<Record<string, string>> {
  const { body } = expectStatus(await api.get('/domains?per_page=100'), 200)
  return Object.fromEntries(
    body.data.map((domain: { domain: string; status: string }) => [domain.domain, domain.status]),
  )
}

onSqlite('a link on a host that its workspace has not claimed', (stage) => {
  test('claims the host, pending until it is proved', async () => {
    const api = await stage.service.api('claiming')
    await createLink(api, { domain: 'go.example.com' })
    await createLink(api, { domain: 'go.example.com' })
    await createLink(api, { domain: 'go.localhost' })
    assert.deepEqual(await claims(api), { 'go.example.com': 'pending', 'go.localhost': 'active' })
  })

  test('claims the host by an update too', async () => {
    const api = await stage.service.api('moving')
    const { id } = await createLink(api)
    for (const [method, domain] of [
      ['PUT', 'put.example.com'],
      ['PATCH', 'patch.example.com'],
    ]) {
      const body = JSON.stringify({ domain, url: 'https://example.com/' })
      const headers = { 'content-type': 'application/json' }
      expectStatus(await api.send(method ?? '', `/links/${id}`, { headers, body }), 200)
    }
    const both = { 'put.example.com': 'pending', 'patch.example.com': 'pending' }
    assert.deepEqual(await claims(api), both)
  })

  test('claims nothing on the service’s own host, which all workspaces share', async () => {
    const api = await stage.service.api('sharing')
    const { domain } = await createLink(api, { domain: 'LocalHost' })
    assert.equal(domain, 'localhost')
    assert.deepEqual(await claims(api), {})
  })

  test('claims nothing when the link is refused', async () => {
    const api = await stage.service.api('refused')
    expectInvalid(await postLink(api, { domain: 'refused.example.com', key: '..' }), 'key')
    assert.deepEqual(await claims(api), {})
  })

  test('returns 422 on `domain` for a token that may not add domains', async () => {
    const admin = await stage.service.api('narrow')
    const api = await stage.service.api('narrow', ['links:read', 'links:write'])
    const refused = await postLink(api, { domain: 'new.example.com' })
    expectInvalid(refused, 'domain')
    assert.match(refused.body.errors.domain[0], /needs the scope domains:write/)
    const { id } = await createLink(api)
    expectInvalid(await api.patch(`/links/${id}`, { domain: 'new.example.com' }), 'domain')
    const create = { domain: 'new.example.com', url: 'https://example.com/' }
    const { body } = await api.post('/links/bulk', { action: 'create', links: [create] })
    assert.equal(body.results[0].error.errors.domain.length, 1)
    assert.deepEqual(await claims(admin), {})
    await createLink(admin, { domain: 'new.example.com' })
    await createLink(api, { domain: 'new.example.com' })
  })

  test('returns 422 on `domain` while the host is active in another workspace', async () => {
    const owner = await stage.service.api('owner')
    const api = await stage.service.api('late')
    await createLink(owner, { domain: 'owned.localhost' })
    expectInvalid(await postLink(api, { domain: 'owned.localhost' }), 'domain')
    const { id } = await createLink(api)
    expectInvalid(await api.patch(`/links/${id}`, { domain: 'owned.localhost' }), 'domain')
    assert.deepEqual(await claims(api), {})
  })

  test('is accepted while the host is pending in another workspace', async () => {
    await createLink(await stage.service.api('early'), { domain: 'unproved.example.com' })
    const api = await stage.service.api('second')
    await createLink(api, { domain: 'unproved.example.com' })
    assert.deepEqual(await claims(api), { 'unproved.example.com': 'pending' })
  })
})

onSqlite('the domain of a link', (stage) => {
  for (const [sent, kept] of [
    ['Go.Example.COM', 'go.example.com'],
    ['go.example.com.', 'go.example.com'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['go.acme.test', 'go.acme.test'],
  ]) {
    test(`is stored in lower case and in A-label form: ${sent}`, async () => {
      const link = await createLink(stage.api, { domain: sent, key: `on-${sent}` })
      assert.equal(link.domain, kept)
      assert.equal(link.link, `https://${kept}/on-${sent}`)
    })
  }

  for (const domain of [
    '',
    'go',
    'co.uk',
    'https://go.example.com',
    'go.example.com/path',
    'go.example.com:8080',
    'user@go.example.com',
    'go_.example.com',
    '-.example.com',
    'a..example.com',
    '192.0.2.1',
    '[2001:db8::1]',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(127)}example.com`,
    'go.example.com\r\nX: y',
    'xn--a.example',
    5,
  ]) {
    test(`returns 422 for ${JSON.stringify(domain).slice(0, 40)}`, async () => {
      expectInvalid(await postLink(stage.api, { domain }), 'domain')
    })
  }
})

onSqlite(
  'links with TERSE_CLAIM_ON_LINK=false',
  (stage) => {
    test('return 422 on `domain` for an unclaimed host', async () => {
      expectInvalid(await postLink(stage.api, { domain: 'unclaimed.example.com' }), 'domain')
      const { id } = await createLink(stage.api)
      expectInvalid(
        await stage.api.patch(`/links/${id}`, { domain: 'unclaimed.example.com' }),
        'domain',
      )
      assert.deepEqual(await claims(stage.api), {})
    })

    test('are accepted on a claimed host and on the shared one', async () => {
      expectStatus(await stage.api.post('/domains', { domain: 'claimed.example.com' }), 201)
      await createLink(stage.api, { domain: 'claimed.example.com' })
      await createLink(stage.api)
    })
  },
  { TERSE_CLAIM_ON_LINK: 'false' },
)
