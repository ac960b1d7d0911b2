import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { BROWSER, type VisitOptions, visit } from '../support/visit.ts'
import { createDomain, createLink, DESTINATION } from './create.ts'

const BOT = { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
const SCANNER_NETWORK = '203.0.113.0/24'

onEachEngine(
  'a link with max_clicks',
  (at) => {
    let keys = 0
    const newKey = () => {
      keys += 1
      return `limited-${keys}`
    }
    const visitKey = (key: string, options?: VisitOptions) =>
      visit(at.service.port, `/${key}`, options)
    const limited = async (fields: Readonly<Record<string, unknown>> = {}) => {
      const key = newKey()
      return { key, id: (await createLink(at.api, { key, max_clicks: 1, ...fields })).id }
    }
    async function countsOf(id: string): Promise<{ clicks: number; bots: number }> {
      const { body } = expectStatus(await at.api.get(`/links/${id}/clicks?bots=include`), 200)
      const { clicks, bots } = body.total
      return { clicks, bots }
    }
    const setLimit = async (id: string, max_clicks: number | null) =>
      expectStatus(await at.api.patch(`/links/${id}/options`, { max_clicks }), 200)

    async function statusesOf(key: string, count: number): Promise<number[]> {
      const statuses: number[] = []
      while (statuses.length < count) statuses.push((await visitKey(key)).status)
      return statuses
    }

    test('lets exactly as many visits through, 64 at a time, and counts each', async () => {
      const { key, id } = await limited({ max_clicks: 200 })
      const statuses: number[] = []
      let left = 320
      await Promise.all(
        Array.from({ length: 64 }, async () => {
          while (left > 0) {
            left -= 1
            statuses.push((await visitKey(key)).status)
          }
        }),
      )
      assert.equal(statuses.filter((status) => status === 302).length, 200)
      assert.equal(statuses.filter((status) => status === 410).length, 120)
      await eventually(async () => assert.deepEqual(await countsOf(id), { clicks: 200, bots: 0 }))
      assert.equal((await at.api.get(`/links/${id}`)).body.clicks, 200)
    })

    test('then answers 410 with a page that says so, without the destination', async () => {
      const { key } = await limited()
      assert.equal((await visitKey(key)).headers.location, DESTINATION)
      const { status, body, headers } = await visitKey(key)
      assert.equal(status, 410)
      assert.match(body, /This link has been used up/)
      assert.doesNotMatch(body, /example\.com/)
      assert.equal(headers['cache-control'], 'private, no-store')
    })

    test('then leads to its expired_redirect_url, or else to the expired_url of its domain', async () => {
      const domain = 'limited.localhost'
      await createDomain(at.api, { domain, expired_url: 'https://d.example/over' })
      const own = await limited({ domain, expired_redirect_url: 'https://l.example/over' })
      const { key } = await limited({ domain })
      const at2 = { host: domain }
      for (const each of [own.key, key]) assert.equal((await visitKey(each, at2)).status, 302)
      assert.equal((await visitKey(own.key, at2)).headers.location, 'https://l.example/over')
      assert.equal((await visitKey(key, at2)).headers.location, 'https://d.example/over')
    })

    test('shows programs a page, which uses up no click and names no destination', async () => {
      const { key, id } = await limited()
      const programs: [string, VisitOptions][] = [
        ['a bot', { headers: BOT }],
        ['no agent', { anonymous: true }],
        ['a prefetch', { headers: { 'sec-purpose': 'prefetch' } }],
        ['Office', { headers: { 'user-agent': `${BROWSER} ms-office; MSOffice 16` } }],
        ['Outlook', { headers: { 'user-agent': `${BROWSER} OneOutlook/1.20` } }],
        ['a named network', { headers: { 'x-forwarded-for': '203.0.113.9' } }],
      ]
      for (const [name, options] of programs) {
        const { status, body, headers } = await visitKey(key, options)
        assert.equal(status, name === 'a prefetch' ? 503 : 200, name)
        assert.match(body, /opens a limited number of times/, name)
        assert.doesNotMatch(body, /example\.com/, name)
        assert.equal(headers.location, undefined, name)
      }
      assert.deepEqual(await statusesOf(key, 2), [302, 410])
      await eventually(async () =>
        assert.deepEqual(await countsOf(id), { clicks: 1, bots: programs.length }),
      )
    })

    test('takes who sends HEAD before GET for a program', async () => {
      const { key } = await limited()
      const scanner = { headers: { 'user-agent': `${BROWSER} Edg/126.0` } }
      const head = await visitKey(key, { ...scanner, method: 'HEAD' })
      assert.deepEqual([head.status, head.body], [200, ''])
      assert.equal((await visitKey(key, scanner)).status, 200)
      assert.equal((await visitKey(key)).status, 302, 'another agent')
    })

    test('lets a person who was taken for a program continue by the form of the page', async () => {
      const { key, id } = await limited()
      const person = { headers: { 'x-forwarded-for': '203.0.113.9' } }
      assert.match((await visitKey(key, person)).body, /<form method="post">/)
      const posted = await visitKey(key, { ...person, method: 'POST' })
      assert.deepEqual([posted.status, posted.headers.location], [303, DESTINATION])
      assert.equal((await visitKey(key, { ...person, method: 'POST' })).status, 410)
      assert.equal((await visitKey(key, { headers: BOT, method: 'POST' })).status, 410)
      await eventually(async () => assert.deepEqual(await countsOf(id), { clicks: 1, bots: 1 }))
    })

    test('uses up a click only once the password is right', async () => {
      const { key } = await limited({ password: 'right' })
      const attempt = (password: string) =>
        visitKey(key, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `password=${password}`,
        })
      assert.equal((await visitKey(key)).status, 200)
      assert.equal((await attempt('wrong')).status, 403)
      assert.equal((await attempt('right')).status, 303)
      assert.equal((await attempt('right')).status, 410)
      assert.equal((await visitKey(key)).status, 410)
    })

    test('takes the clicks that the link had before its limit into account', async () => {
      const key = newKey()
      const { id } = await createLink(at.api, { key })
      assert.deepEqual(await statusesOf(key, 3), [302, 302, 302])
      await eventually(async () => assert.equal((await countsOf(id)).clicks, 3))
      await setLimit(id, 5)
      assert.deepEqual(await statusesOf(key, 3), [302, 302, 410])
      await setLimit(id, 2)
      assert.deepEqual(await statusesOf(key, 1), [410])
    })

    test('works again when its limit is raised or removed', async () => {
      const { key, id } = await limited({ max_clicks: 2 })
      assert.deepEqual(await statusesOf(key, 3), [302, 302, 410])
      await setLimit(id, 3)
      assert.deepEqual(await statusesOf(key, 2), [302, 410])
      await setLimit(id, null)
      assert.deepEqual(await statusesOf(key, 2), [302, 302])
      await eventually(async () => assert.equal((await countsOf(id)).clicks, 5))
      await setLimit(id, 6)
      assert.deepEqual(await statusesOf(key, 2), [302, 410])
    })

    test('has the same clicks left after a lower limit, of which a node holds more', async () => {
      const { key, id } = await limited({ max_clicks: 1_000 })
      assert.deepEqual(await statusesOf(key, 1), [302])
      await setLimit(id, 3)
      assert.deepEqual(await statusesOf(key, 3), [302, 302, 410])
    })

    test('keeps its count when it moves to another key', async () => {
      const { key, id } = await limited({ max_clicks: 2 })
      assert.deepEqual(await statusesOf(key, 1), [302])
      const moved = newKey()
      expectStatus(await at.api.patch(`/links/${id}`, { key: moved }), 200)
      assert.deepEqual(await statusesOf(moved, 2), [302, 410])
    })

    test('begins again as another link under the key of one that was deleted', async () => {
      const { key, id } = await limited()
      assert.deepEqual(await statusesOf(key, 2), [302, 410])
      expectStatus(await at.api.delete(`/links/${id}`), 200)
      await createLink(at.api, { key, max_clicks: 1 })
      assert.deepEqual(await statusesOf(key, 2), [302, 410])
    })
  },
  { TERSE_TRUST_PROXY: '127.0.0.1', TERSE_SCANNER_NETWORKS: SCANNER_NETWORK },
)
