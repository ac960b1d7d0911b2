import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type Description, PREFIX, UNKNOWN_ID } from '../support/operations.ts'
import { setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const AT_ONCE = 8
const ALL_SCOPES = [
  'links:read',
  'links:write',
  'domains:read',
  'domains:write',
  'clicks:read',
  'conversions:read',
  'conversions:write',
  'webhooks:read',
  'webhooks:write',
  'workspace:admin',
] as const

const description: Description = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
/** The POSTs of the API, and whether they describe the header. */
const POSTS = Object.entries(description.paths).flatMap(([path, { post }]) => {
  if (post === undefined) return []
  const honours = post.parameters?.some(({ name }) => name === 'idempotency-key') ?? false
  return [{ path: path.replace(PREFIX, ''), honours }]
})

const LINK = { domain: 'localhost', url: 'https://example.com/once' }

for (const engine of ENGINES) {
  describe(`Idempotency-Key on ${engine.title}`, () => {
    let service: Service
    let api: Api
    before(async () => {
      service = await startService(engine)
      api = await service.api()
    })
    after(() => service.stop())

    const post = (path: string, body: unknown, key: string, from: Api = api) =>
      from.post(path, body, { 'idempotency-key': key })
    const acmeId = async () => (await service.instance.workspaces.get('acme')).id
    const linkTotal = async () => (await api.get('/links')).body.meta.total

    test('a repeated request creates one link and returns the first answer', async () => {
      const total = await linkTotal()
      const first = expectStatus(await post('/links', LINK, 'same'), 201).body
      const again = expectStatus(await post('/links', LINK, 'same'), 201).body
      assert.deepEqual(again, first)
      assert.equal(again.clicks, null)
      assert.equal(await linkTotal(), total + 1)
    })

    for (const [path, body] of [
      ['/links', LINK],
      ['/domains', { domain: 'marked.acme.test' }],
      ['/utm-templates', { name: 'marked' }],
      ['/rule-sets', { name: 'marked' }],
      ['/imports', { source: 'csv' }],
      ['/imports/revive', { dry_run: true }],
      ['/webhooks', { url: 'https://hooks.example.com/', events: ['link.created'] }],
      ['/imports', { source: 'bitly', token: 'SECRET-OF-A-SOURCE' }],
      ['/links/bulk', { action: 'create', links: [LINK] }],
      ['/tokens', { name: 'marked', scopes: ['links:read'] }],
      ['/invitations', { email: 'marked@example.com', role: 'member' }],
    ] as const) {
      const key = `marked-${path}-${Object.keys(body).length}`
      test(`a repetition of POST ${path} of ${Object.keys(body).join(', ')} gets the first answer, marked as such`, async () => {
        const all = await service.api('acme', ALL_SCOPES)
        const first = await post(path, body, key, all)
        const again = await post(path, body, key, all)
        assert.ok(first.status === 200 || first.status === 201, JSON.stringify(first.body))
        assert.equal(again.status, first.status)
        assert.deepEqual(again.body, first.body)
        assert.equal(again.headers.get('location'), first.headers.get('location'))
        assert.equal(first.headers.get('idempotent-replayed'), null)
        assert.equal(again.headers.get('idempotent-replayed'), 'true')
        const exposed = again.headers.get('access-control-expose-headers') ?? ''
        assert.match(exposed, /\bIdempotent-Replayed\b/)
      })
    }

    test('of concurrent repetitions, all create one token, one invitation and one import', async () => {
      const all = await service.api('acme', ALL_SCOPES)
      for (const [path, body] of [
        ['/tokens', { name: 'parallel', scopes: ['links:read'] }],
        ['/invitations', { email: 'parallel@example.com', role: 'member' }],
        ['/imports', { source: 'dub-csv' }],
      ] as const) {
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, () => post(path, body, `parallel-${path}`, all)),
        )
        for (const answer of answers) expectStatus(answer, 201)
        assert.equal(new Set(answers.map((answer) => JSON.stringify(answer.body))).size, 1)
        const fresh = answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)
        assert.equal(fresh.length, 1)
        const listed = expectStatus(await all.get(path), 200).body.data
        const { id } = answers[0]?.body ?? {}
        assert.equal(listed.filter((item: { id: string }) => item.id === id).length, 1)
      }
    })

    test('stores no secret of an answer in plain text', async () => {
      const all = await service.api('acme', ALL_SCOPES)
      const workspaceId = await acmeId()
      const secretOf = {
        '/tokens': { name: 'sealed', scopes: ['links:read'] },
        '/invitations': { email: 'sealed@example.com', role: 'member' },
        '/imports': { source: 'bitly', token: 'SECRET-OF-A-SOURCE-TOO' },
      }
      for (const [path, body] of Object.entries(secretOf)) {
        const answer = expectStatus(await post(path, body, `sealed-${path}`, all), 201).body
        const record = await service.instance.store.read.idempotency.find(
          workspaceId,
          `sealed-${path}`,
        )
        const stored = record?.result ?? ''
        assert.ok(stored.length > 0)
        const code = answer.url?.split('#code=')[1]
        for (const secret of [answer.secret, code, 'SECRET-OF-A-SOURCE-TOO']) {
          if (secret !== undefined) assert.ok(!stored.includes(secret), path)
        }
        const decoded = Buffer.from(stored, 'base64').toString('latin1')
        if (path !== '/imports') assert.ok(!decoded.includes('sealed'), decoded)
        else assert.equal(JSON.parse(stored).sealed_settings, null)
      }
    })

    test('returns a stored secret only to its sender, while the sender has the right', async () => {
      const sender = await service.api('acme', ALL_SCOPES)
      const other = await service.api('acme', ALL_SCOPES)
      const token = { name: 'bound', scopes: ['links:write'] }
      const invitation = { email: 'bound@example.com', role: 'member' }
      expectStatus(await post('/tokens', token, 'bound', sender), 201)
      expectStatus(await post('/invitations', invitation, 'bound-2', sender), 201)
      expectProblem(await post('/tokens', token, 'bound', other), 'idempotency_conflict')
      expectProblem(
        await post('/invitations', invitation, 'bound-2', other),
        'idempotency_conflict',
      )
      const listed = expectStatus(await sender.get('/tokens'), 200).body.data
      const less = await service.api('acme', ['links:read'])
      expectProblem(await post('/tokens', token, 'bound', less), 'missing_scope')
      const bound = listed.filter(({ name }: { name: string }) => name === 'bound')
      assert.equal(bound.length, 1)
    })

    test('an operator creates one workspace, and each other POST refuses the header', async () => {
      const operator = await setUp(service)
      const headers = { 'idempotency-key': 'w' }
      const body = { name: 'repeated' }
      const first = expectStatus(await operator.post('/workspaces', body, headers), 201)
      const again = expectStatus(await operator.post('/workspaces', body, headers), 201)
      assert.equal(again.body.id, first.body.id)
      assert.equal(again.body.role, 'owner')
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      operator.workspaceId = first.body.id
      const others = POSTS.filter(({ honours }) => !honours).map(({ path }) => path)
      assert.ok(others.includes('/session') && others.length > 10, others.join())
      for (const path of others) {
        const answer = await operator.post(path.replace('{id}', UNKNOWN_ID), {}, headers)
        expectProblem(answer, 'validation_failed', ['Idempotency-Key'])
      }
    })

    test('all that creates something in a workspace honours the header', () => {
      const honoured = POSTS.filter(({ honours }) => honours).map(({ path }) => path)
      assert.deepEqual(honoured.sort(), [
        '/conversions',
        '/domains',
        '/imports',
        '/imports/revive',
        '/invitations',
        '/links',
        '/links/bulk',
        '/rule-sets',
        '/tokens',
        '/utm-templates',
        '/webhooks',
        '/workspaces',
      ])
    })

    test('a repeated request may have its fields in another order', async () => {
      const first = expectStatus(await post('/links', LINK, 'order'), 201).body
      const turned = { url: LINK.url, domain: LINK.domain }
      assert.equal(expectStatus(await post('/links', turned, 'order'), 201).body.id, first.id)
    })

    test('a repeated request returns the first answer even after the link was changed or deleted', async () => {
      const first = expectStatus(await post('/links', LINK, 'later'), 201).body
      await api.patch(`/links/${first.id}`, { url: 'https://example.com/changed' })
      assert.deepEqual(expectStatus(await post('/links', LINK, 'later'), 201).body, first)
      await api.delete(`/links/${first.id}`)
      assert.deepEqual(expectStatus(await post('/links', LINK, 'later'), 201).body, first)
      expectProblem(await api.get(`/links/${first.id}`), 'not_found')
    })

    test('a repeated request with a password returns the first answer, and never the text', async () => {
      const secret = { ...LINK, password: 'open sesame' }
      const first = expectStatus(await post('/links', secret, 'secret'), 201).body
      assert.deepEqual(expectStatus(await post('/links', secret, 'secret'), 201).body, first)
      assert.doesNotMatch(JSON.stringify(first), /sesame/)
      const other = { ...LINK, password: 'open barley' }
      expectProblem(await post('/links', other, 'secret'), 'idempotency_conflict')
    })

    test('returns 409 for another body or another operation with the same key', async () => {
      const total = await linkTotal()
      expectStatus(await post('/links', LINK, 'conflict'), 201)
      for (const body of [
        { ...LINK, key: 'other' },
        { ...LINK, url: 'https://example.com/other' },
      ]) {
        expectProblem(await post('/links', body, 'conflict'), 'idempotency_conflict')
      }
      const domain = { domain: 'conflict.acme.test' }
      expectProblem(await post('/domains', domain, 'conflict'), 'idempotency_conflict')
      assert.equal(await linkTotal(), total + 1)
    })

    test('a key can be used again after its request was refused', async () => {
      const refused = { domain: 'localhost', url: 'nope' }
      expectProblem(await post('/links', refused, 'retry'), 'validation_failed', ['url'])
      expectStatus(await post('/links', LINK, 'retry'), 201)
      const taken = { ...LINK, key: 'taken' }
      expectStatus(await api.post('/links', taken), 201)
      expectProblem(await post('/links', taken, 'retry-taken'), 'validation_failed')
      expectStatus(await post('/links', { ...LINK, key: 'free' }, 'retry-taken'), 201)
    })

    test('a repeated request creates one domain', async () => {
      const body = { domain: 'once.acme.test', not_found_url: 'https://example.com/' }
      const first = expectStatus(await post('/domains', body, 'domain'), 201).body
      assert.deepEqual(expectStatus(await post('/domains', body, 'domain'), 201).body, first)
      const other = { ...body, not_found_url: null }
      expectProblem(await post('/domains', other, 'domain'), 'idempotency_conflict')
    })

    for (const [what, path, body] of [
      ['a link with a generated key', '/links', LINK],
      ['a link with a given key', '/links', { ...LINK, key: 'given' }],
      ['a link that claims its domain', '/links', { ...LINK, domain: 'claimed.localhost' }],
      ['a domain', '/domains', { domain: 'parallel.acme.test' }],
    ] as const) {
      test(`concurrent repetitions create ${what} once, and all return it`, async () => {
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, () =>
            post(path, body, `at-once-${path}-${JSON.stringify(body)}`),
          ),
        )
        for (const answer of answers) expectStatus(answer, 201)
        assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1)
      })
    }

    test('accepts one of several concurrent requests with the same key, and returns 409 for the others', async () => {
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) =>
          post('/links', { ...LINK, url: `https://example.com/${index}` }, 'rivals'),
        ),
      )
      const statuses = answers.map(({ status }) => status).toSorted()
      assert.deepEqual(statuses, [201, ...Array(AT_ONCE - 1).fill(409)])
    })

    test('workspaces do not share keys', async () => {
      const other = await service.api('other')
      const first = expectStatus(await post('/links', LINK, 'shared'), 201).body
      const second = expectStatus(await post('/links', LINK, 'shared', other), 201).body
      assert.notEqual(second.id, first.id)
      assert.notEqual(second.workspace_id, first.workspace_id)
    })

    test('without a key, every request creates a link', async () => {
      const first = expectStatus(await api.post('/links', LINK), 201).body
      assert.notEqual(expectStatus(await api.post('/links', LINK), 201).body.id, first.id)
    })

    test('accepts 1 to 255 printable characters as a key', async () => {
      for (const key of ['x', '!"#$%&()*+,-./:;<=>?@[]^_{|}~', 'k'.repeat(255)]) {
        const first = expectStatus(await post('/links', LINK, key), 201).body
        assert.equal(expectStatus(await post('/links', LINK, key), 201).body.id, first.id)
      }
    })

    for (const bad of ['', 'two words', 'k'.repeat(256), 'schlüssel', 'tab\there']) {
      test(`returns 422 for the key ${JSON.stringify(bad.slice(0, 12))} of ${bad.length} characters`, async () => {
        for (const [path, body] of [
          ['/links', LINK],
          ['/domains', { domain: 'x.acme.test' }],
        ] as const) {
          const answer = await post(path, body, bad)
          expectProblem(answer, 'validation_failed', ['Idempotency-Key'])
        }
      })
    }
  })
}
