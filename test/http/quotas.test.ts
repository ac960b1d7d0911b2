import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import type { QuotaOverrides } from '../../src/identity/quotas/quota.ts'
import { type Answer, type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, postLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'

const DEFAULTS = {
  TERSE_QUOTA_LINKS: '5',
  TERSE_QUOTA_DOMAINS: '3',
  TERSE_QUOTA_PENDING_DOMAINS: '2',
}
const AT_ONCE = 16

onEachEngine(
  'the quotas of a workspace',
  (stage) => {
    let workspaces = 0

    /** A new workspace for each test. */
    async function newWorkspace(own: Partial<QuotaOverrides> = {}): Promise<[Api, string]> {
      workspaces += 1
      const name = `quota-${workspaces}`
      const api = await stage.service.api(name)
      await limit(name, own)
      return [api, name]
    }

    async function limit(name: string, own: Partial<QuotaOverrides>): Promise<void> {
      const { workspaces } = stage.service.instance
      await workspaces.limit(commandLine((await workspaces.get(name)).id), own)
    }

    const usageOf = async (api: Api) => expectStatus(await api.get('/usage'), 200).body

    function expectReached(answer: Answer, field: string, text: RegExp): void {
      expectInvalid(answer, field)
      assert.match(answer.body.errors[field][0], text)
    }

    test('limit the number of links exactly, however many are created at once', async () => {
      const [api] = await newWorkspace()
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => postLink(api)))
      const refused = answers.filter(({ status }) => status !== 201)
      assert.equal(refused.length, AT_ONCE - 5)
      for (const answer of refused) expectReached(answer, 'workspace', /quota of 5 links; delete/)
      assert.deepEqual((await usageOf(api)).links, { used: 5, limit: 5 })
    })

    test('admit another link after a delete, and after the quota is raised', async () => {
      const [api, name] = await newWorkspace({ links: 1 })
      const { id } = await createLink(api)
      expectInvalid(await postLink(api), 'workspace')
      expectStatus(await api.delete(`/links/${id}`), 200)
      await createLink(api)
      await limit(name, { links: 2 })
      await createLink(api)
      expectInvalid(await postLink(api), 'workspace')
      await limit(name, { links: 0 })
      await createLink(api)
      assert.deepEqual((await usageOf(api)).links, { used: 3, limit: null })
    })

    test('do not apply to updates or to repeated requests with an Idempotency-Key', async () => {
      const [api] = await newWorkspace({ links: 1 })
      const body = { domain: 'localhost', url: 'https://example.com/' }
      const key = { 'idempotency-key': 'once' }
      const { id } = expectStatus(await api.post('/links', body, key), 201).body
      assert.equal(expectStatus(await api.post('/links', body, key), 201).body.id, id)
      expectStatus(await api.patch(`/links/${id}`, { tags: ['spring'] }), 200)
    })

    test('limit domains and pending domains, including those that a link claims', async () => {
      const [api, name] = await newWorkspace()
      const host = (number: number) => `d${number}.${name}.test`
      expectStatus(await api.post('/domains', { domain: host(1) }), 201)
      await createLink(api, { domain: host(2) })
      const pending = /quota of 2 pending domains; prove or delete/
      expectReached(await api.post('/domains', { domain: host(3) }), 'domain', pending)
      expectReached(await postLink(api, { domain: host(3) }), 'domain', pending)
      await limit(name, { pending_domains: 0 })
      expectStatus(await api.post('/domains', { domain: host(3) }), 201)
      expectReached(
        await api.post('/domains', { domain: host(4) }),
        'domain',
        /quota of 3 domains; delete/,
      )
      const usage = await usageOf(api)
      assert.deepEqual(usage.domains, { used: 3, limit: 3 })
      assert.deepEqual(usage.pending_domains, { used: 3, limit: null })
    })

    test('limit the text stored in links, in creates and in updates', async () => {
      const [api] = await newWorkspace({ storage_bytes: 300 })
      const { id } = await createLink(api, { key: 'short', tags: ['é'] })
      const { used } = (await usageOf(api)).storage_bytes
      assert.equal(used, Buffer.byteLength('shorthttps://example.com/["é"]'))
      const long = `https://example.com/${'x'.repeat(300)}`
      expectReached(await postLink(api, { url: long }), 'workspace', /quota of 300 bytes of links/)
      expectInvalid(await api.patch(`/links/${id}`, { ios: long }), 'workspace')
      expectStatus(await api.patch(`/links/${id}`, { ios: 'https://example.com/ios' }), 200)
      expectStatus(await api.patch(`/links/${id}`, { ios: null, key: 'shorter' }), 200)
      assert.equal((await usageOf(api)).storage_bytes.used, used + 2)
      expectStatus(await api.delete(`/links/${id}`), 200)
      assert.deepEqual((await usageOf(api)).storage_bytes, { used: 0, limit: 300 })
    })

    test('count the requests of all tokens of a workspace together', async () => {
      const [api, name] = await newWorkspace({ requests_per_minute: 3 })
      const second = await stage.service.api(name)
      expectStatus(await api.get('/links'), 200)
      expectStatus(await second.get('/links'), 200)
      assert.deepEqual((await usageOf(second)).requests_per_minute, { used: 3, limit: 3 })
      for (const one of [api, second]) {
        const answer = expectProblem(await one.get('/links'), 'rate_limited')
        assert.match(answer.body.message, /quota of 3 requests per minute/)
        assert.ok(Number(answer.headers.get('retry-after')) >= 1)
      }
      expectStatus(await stage.api.get('/links'), 200)
    })
  },
  DEFAULTS,
)
