import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CLICK_FLAGS } from '../../src/clicks/click.ts'
import type { Api } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitOptions, visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createDomain, createLink } from './create.ts'

const HEAD = { method: 'HEAD' }
const prefetching = (headers: Record<string, string>): VisitOptions => ({ headers })
const by = (agent: string): VisitOptions => ({ headers: { 'user-agent': agent } })

/** Visits that are redirected, and the flags of their clicks; a click without flags counts. */
const VISITS: readonly { name: string; options: VisitOptions; flags: number }[] = [
  { name: 'a browser', options: {}, flags: 0 },
  { name: 'an iPhone', options: by(AGENTS.iPhone), flags: 0 },
  { name: 'curl', options: by(AGENTS.curl), flags: 0 },
  { name: 'a HEAD request', options: HEAD, flags: CLICK_FLAGS.head },
  { name: 'a bot', options: by(AGENTS.googlebot), flags: CLICK_FLAGS.bot },
  { name: 'a preview for a chat', options: by(AGENTS.slackbot), flags: CLICK_FLAGS.bot },
  {
    name: 'a prefetch',
    options: prefetching({ 'sec-purpose': 'prefetch' }),
    flags: CLICK_FLAGS.prefetch,
  },
  {
    name: 'a prerendering',
    options: prefetching({ 'sec-purpose': 'prefetch;prerender' }),
    flags: CLICK_FLAGS.prefetch,
  },
  {
    name: 'an older prefetch',
    options: prefetching({ purpose: 'prefetch' }),
    flags: CLICK_FLAGS.prefetch,
  },
  { name: 'no user agent', options: { anonymous: true }, flags: CLICK_FLAGS.noUserAgent },
  { name: 'an empty user agent', options: by(''), flags: CLICK_FLAGS.noUserAgent },
  {
    name: "a bot's HEAD request",
    options: { ...HEAD, ...by(AGENTS.googlebot) },
    flags: CLICK_FLAGS.head + CLICK_FLAGS.bot,
  },
  {
    name: 'a HEAD request without a user agent',
    options: { ...HEAD, anonymous: true },
    flags: CLICK_FLAGS.head + CLICK_FLAGS.noUserAgent,
  },
]

for (const engine of ENGINES) {
  describe(`the clicks of a visit, on ${engine.title}`, () => {
    let service: Service
    let api: Api
    before(async () => {
      service = await startService(engine)
      api = await service.api()
    })
    after(() => service.stop())

    /** The number of stored clicks of a link, by flags. */
    async function storedByFlags(link: { workspace_id: string; id: string }): Promise<object> {
      const { read } = service.instance.store
      const row = await read.links.findById(link.workspace_id, link.id)
      const workspaceId = link.workspace_id
      const scope = { kind: 'link', workspaceId, linkSeq: row?.seq ?? 0 } as const
      const clicks = await rawClicksOf(service.instance.store, scope)
      const counts = Map.groupBy(clicks, ({ flags }) => flags)
      return Object.fromEntries([...counts].map(([flags, { length }]) => [flags, length]))
    }

    async function expectClicks(id: string, clicks: number): Promise<number | null> {
      return eventually(async () => {
        const { body } = await api.get(`/links/${id}`)
        assert.equal(body.clicks, clicks)
        return body.last_click
      })
    }

    for (const { name, options, flags } of VISITS) {
      test(`a visit by ${name} is stored, and ${flags === 0 ? 'counted' : 'not counted'}`, async () => {
        const link = await createLink(api, {})
        const answer = await visit(service.port, `/${link.key}`, options)
        assert.equal(answer.status, 302)
        await eventually(async () => assert.deepEqual(await storedByFlags(link), { [flags]: 1 }))
        const lastClick = await expectClicks(link.id, flags === 0 ? 1 : 0)
        assert.equal(lastClick === null, flags !== 0)
      })
    }

    test('every one of many visits is counted, and the last one is returned in Unix seconds', async () => {
      const { id, key } = await createLink(api, {})
      const fresh = (await api.get(`/links/${id}`)).body
      assert.equal(fresh.clicks, 0)
      assert.equal(fresh.last_click, null)
      const now = () => Math.floor(service.instance.clock.nowMicros() / 1e6)
      const before = now()
      await Promise.all(Array.from({ length: 50 }, () => visit(service.port, `/${key}`)))
      const after = now()
      const lastClick = await expectClicks(id, 50)
      assert.ok(lastClick !== null && lastClick >= before && lastClick <= after, `${lastClick}`)
    })

    test('visits that do not count leave clicks and last_click unchanged', async () => {
      const link = await createLink(api, {})
      await visit(service.port, `/${link.key}`)
      const lastClick = await expectClicks(link.id, 1)
      await visit(service.port, `/${link.key}`, HEAD)
      await visit(service.port, `/${link.key}`, by(AGENTS.googlebot))
      await eventually(async () =>
        assert.deepEqual(await storedByFlags(link), {
          0: 1,
          [CLICK_FLAGS.head]: 1,
          [CLICK_FLAGS.bot]: 1,
        }),
      )
      assert.equal(await expectClicks(link.id, 1), lastClick)
    })

    test('a click belongs only to the visited link', async () => {
      const [visited, other] = [await createLink(api, {}), await createLink(api, {})]
      await visit(service.port, `/${visited.key}`)
      await expectClicks(visited.id, 1)
      await expectClicks(other.id, 0)
    })

    test('a change to a link keeps its clicks', async () => {
      const { id, key } = await createLink(api, {})
      await visit(service.port, `/${key}`)
      await expectClicks(id, 1)
      const { body } = await api.patch(`/links/${id}`, { key: `${key}-2`, tags: ['x'] })
      assert.equal(body.clicks, 1)
      await visit(service.port, `/${key}-2`)
      await expectClicks(id, 2)
    })

    test('only a visit that reaches the destination is a click', async () => {
      const expired = await createLink(api, { expires_at: '2020-01-01T00:00:00Z' })
      const secret = await createLink(api, { password: 'sesame' })
      const enterPassword = (password: string) =>
        visit(service.port, `/${secret.key}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `password=${password}`,
        })
      assert.equal((await visit(service.port, `/${expired.key}`)).status, 410)
      assert.equal((await visit(service.port, `/${secret.key}`)).status, 200)
      assert.equal((await enterPassword('wrong')).status, 403)
      const passed = await enterPassword('sesame')
      assert.equal(passed.status, 303)
      await expectClicks(secret.id, 1)
      const [cookie = ''] = passed.headers['set-cookie'] ?? []
      await visit(service.port, `/${secret.key}`, { headers: { cookie } })
      await expectClicks(secret.id, 2)
      assert.deepEqual(await storedByFlags(secret), { 0: 2 })
      assert.deepEqual(await storedByFlags(expired), {})
    })

    test('a visit that is redirected to a fallback URL is no click', async () => {
      const domain = 'full.localhost'
      await createDomain(api, { domain, expired_url: 'https://domain.example/expired' })
      const expired = await createLink(api, { domain, expires_at: '2020-01-01T00:00:00Z' })
      const counted = await createLink(api, { domain })
      const answer = await visit(service.port, `/${expired.key}`, { host: domain })
      assert.equal(answer.headers.location, 'https://domain.example/expired')
      // Clicks are ingested in order: once a later one is counted, an earlier one would be too.
      await visit(service.port, `/${counted.key}`, { host: domain })
      await expectClicks(counted.id, 1)
      assert.deepEqual(await storedByFlags(expired), {})
    })
  })
}
