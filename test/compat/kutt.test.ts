import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Kutt } from 'kutt'
import { expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { compatToken } from '../support/compat.ts'
import { createLink, showLink } from '../support/links.ts'
import { onEachEngine, onSqlite, type Stage } from '../support/on-each-engine.ts'
import { UNKNOWN_ID } from '../support/operations.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'
import { visit } from '../support/visit.ts'

const TARGET = 'https://example.com/kutt'
const DAY_MS = 86_400_000

/** The npm package, unchanged. */
function kuttAt(baseUrl: string, key: string): Kutt {
  return new Kutt().set('api', `${baseUrl}/api/v2`).set('key', key)
}

/** Expects that the package throws what the API of Kutt says. */
function refused(status: number, message: string) {
  return (error: Error) => {
    assert.equal(error.message, message)
    assert.equal((error.cause as { status: number }).status, status)
    return true
  }
}

/** Sends a request as other programs do. */
async function send(stage: Stage, path: string, init: RequestInit & { key?: string } = {}) {
  const { key, ...rest } = init
  const headers = { ...(key !== undefined && { 'X-API-Key': key }), ...init.headers }
  const url = `${stage.service.baseUrl}/api/v2${path}`
  const response = await fetch(url, { ...rest, headers })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { response, status: response.status, body: isJson ? JSON.parse(text) : text }
}

const json = (body: object) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

onEachEngine('the API of Kutt, for its npm package', (stage) => {
  let kutt: Kutt
  before(async () => {
    kutt = kuttAt(stage.service.baseUrl, await compatToken(stage.service, 'compat:kutt'))
  })

  test('creates a link with every field', async () => {
    const link = await kutt.links().create({
      ...{ target: 'example.com/all', customurl: 'all', description: 'For all' },
      ...{ expire_in: '2 days', password: 'secret', domain: 'localhost' },
    })
    const { id, created_at, updated_at, expire_in, ...others } = link as typeof link & {
      expire_in: string
    }
    assert.deepEqual(others, {
      ...{ address: 'all', link: 'https://localhost/all', target: 'http://example.com/all' },
      ...{ description: 'For all', domain: null, banned: false, password: true, visit_count: 0 },
    })
    assert.ok(created_at instanceof Date && updated_at instanceof Date)
    assert.match(expire_in, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Math.abs(Date.parse(expire_in) - created_at.getTime() - 2 * DAY_MS) < 60_000)
    const stored = await showLink(stage.api, id)
    assert.equal(stored.url, 'http://example.com/all')
    const { status, headers } = await visit(stage.service.port, '/all')
    assert.deepEqual([status, headers.location], [200, undefined], 'asks for the password')
  })

  test('reuses a link to the same target, and says that a custom URL is taken', async () => {
    const first = await kutt.links().create({ target: TARGET, reuse: true, customurl: 'once' })
    const second = await kutt.links().create({ target: TARGET, reuse: true, customurl: 'twice' })
    assert.equal(second.id, first.id)
    const third = await kutt.links().create({ target: TARGET })
    assert.notEqual(third.id, first.id)
    await assert.rejects(
      kutt.links().create({ target: TARGET, customurl: 'once' }),
      refused(400, 'Custom URL is already in use.'),
    )
  })

  test('lists the newest first, from any position', async () => {
    const api = await stage.service.api('listed')
    const key = await compatToken(stage.service, 'compat:kutt', 'listed')
    const listed = kuttAt(stage.service.baseUrl, key)
    for (let number = 0; number < 7; number += 1) await createLink(api, { key: `n${number}` })
    const addresses = async (params: object) => {
      const { data, ...rest } = await listed.links().list(params)
      return [data.map(({ address }) => address).join(' '), rest]
    }
    const all = 'n6 n5 n4 n3 n2 n1 n0'
    assert.deepEqual(await addresses({}), [all, { total: 7, limit: 10, skip: 0 }])
    const some = { limit: 3, skip: 2 }
    assert.deepEqual(await addresses(some), ['n4 n3 n2', { total: 7, ...some }])
    assert.deepEqual(await addresses({ limit: 500 }), [all, { total: 7, limit: 50, skip: 0 }])
    const found = await send(stage, '/links?search=n5', { key })
    assert.deepEqual([found.body.total, found.body.data[0].address], [1, 'n5'])
  })

  test('edits a link, and keeps what an edit leaves out', async () => {
    const { id } = await kutt.links().create({ target: TARGET, password: 'secret' })
    const edited = await kutt
      .links()
      .update(id, { target: `${TARGET}/new`, address: 'edited', description: 'Edited' })
    assert.deepEqual(
      [edited.target, edited.address, edited.description, edited.password],
      [`${TARGET}/new`, 'edited', 'Edited', true],
    )
    const same = { target: `${TARGET}/new`, address: 'edited' }
    await assert.rejects(
      kutt.links().update(id, same),
      refused(400, 'Should at least update one field.'),
    )
    const open = await kutt.links().update(id, { ...same, password: null } as typeof same)
    assert.deepEqual([open.password, open.description], [false, 'Edited'])
  })

  test('deletes a link', async () => {
    const { id } = await kutt.links().create({ target: TARGET })
    assert.equal(await kutt.links().remove(id), 'Link has been deleted successfully.')
    await assert.rejects(kutt.links().remove(id), refused(404, 'Could not find the link.'))
  })

  test('counts clicks for stats(), which sends DELETE and deletes nothing', async () => {
    const { id } = await kutt.links().create({ target: TARGET })
    const link = await showLink(stage.api, id)
    const link_seq = await seqOf(stage.service, link)
    const now = Date.now() * 1_000
    const click = (fields: object) => someClick({ link_seq, at: now, ...fields })
    await takeIn(stage.service, [
      click({ browser: 'Chrome', os: 'macOS', country: 'DE', referrer: 'news.example.com' }),
      click({ browser: 'Internet Explorer', os: 'Windows' }),
      click({ browser: 'Samsung Internet', os: 'iPadOS', country: 'DE' }),
      click({ browser: 'Chrome', os: 'Android', at: now - 35 * DAY_MS * 1_000 }),
      click({ flags: 1 }),
    ])
    // biome-ignore lint/suspicious/noExplicitAny: the types of the package lack the periods
    const stats: any = await kutt.links().stats(id)
    assert.equal(stats.id, id)
    const { lastDay, lastWeek, lastMonth, lastYear } = stats
    const lengths = [lastDay, lastWeek, lastMonth, lastYear].map(({ views }) => views.length)
    assert.deepEqual(lengths, [24, 7, 30, 12])
    const totals = [lastDay, lastWeek, lastMonth, lastYear].map(({ total }) => total)
    assert.deepEqual(totals, [3, 3, 3, 4])
    assert.equal(lastMonth.views.at(-1), 3)
    const named = (list: { name: string; value: number }[]) =>
      list.filter(({ value }) => value > 0).map(({ name, value }) => `${name} ${value}`)
    assert.deepEqual(named(lastYear.stats.browser), ['chrome 2', 'ie 1', 'other 1'])
    assert.deepEqual(named(lastDay.stats.os), ['ios 1', 'macos 1', 'windows 1'])
    assert.equal(lastDay.stats.browser.length, 7)
    assert.deepEqual(named(lastDay.stats.country), ['de 2', 'unknown 1'])
    assert.deepEqual(named(lastDay.stats.referrer), ['direct 2', 'news[dot]example[dot]com 1'])
    assert.ok(Date.parse(stats.updatedAt) > 0)
    assert.equal((await showLink(stage.api, id)).id, id)
    await assert.rejects(kutt.links().stats(UNKNOWN_ID), refused(404, 'Link could not be found.'))
  })

  test('finds no link of another workspace', async () => {
    const { id } = await createLink(await stage.service.api('foreign'))
    const links = kutt.links()
    const edit = { target: TARGET, address: 'mine' }
    await assert.rejects(links.update(id, edit), refused(404, 'Link was not found.'))
    await assert.rejects(links.remove(id), refused(404, 'Could not find the link.'))
    await assert.rejects(links.stats(id), refused(404, 'Link could not be found.'))
    await assert.rejects(links.remove('short'), refused(400, 'ID is invalid.'))
  })

  test('shows the workspace as the user, and adds no domain', async () => {
    const { domains, email } = await kutt.users().info()
    assert.equal(email, 'compat:kutt')
    assert.deepEqual(domains, [])
    await stage.api.post('/domains', { domain: 'go.localhost' })
    const { domains: after } = await kutt.users().info()
    const [domain] = after
    assert.deepEqual(
      [domain?.address, domain?.homepage, domain?.banned, domain?.created_at instanceof Date],
      ['go.localhost', 'localhost', false, true],
    )
    const text = 'Domains are added and removed in the dashboard, or over the API of Terse.'
    await assert.rejects(kutt.domains().create({ address: 'a.localhost' }), refused(403, text))
    await assert.rejects(kutt.domains().remove(domain?.id ?? ''), refused(403, text))
    const link = await kutt.links().create({ target: TARGET, domain: 'Go.localhost' })
    assert.equal((link as typeof link & { domain: string }).domain, 'go.localhost')
    expectStatus(await stage.api.put('/default-domain', { domain: 'go.localhost' }), 200)
    const usual = await kutt.links().create({ target: TARGET })
    assert.match(usual.link, /^https:\/\/go\.localhost\//)
    expectStatus(await stage.api.put('/default-domain', { domain: null }), 200)
  })

  test('reports its health without a key', async () => {
    assert.equal(await kuttAt(stage.service.baseUrl, '').health().check(), true)
  })
})

onSqlite('the API of Kutt', (stage) => {
  let key: string
  before(async () => {
    key = await compatToken(stage.service, 'compat:kutt')
  })

  test('answers the calls of the browser extension, which takes keys of 40 characters', async () => {
    assert.equal(key.length, 40)
    const user = await send(stage, '/users', { key })
    assert.deepEqual([user.status, user.body.apikey, user.body.domains], [200, key, []])
    const sent = { target: 'https://example.com/tab', password: '', customurl: '', reuse: true }
    const made = await send(stage, '/links', { key, ...json(sent) })
    assert.equal(made.status, 201)
    const again = await send(stage, '/links', { key, ...json({ ...sent, customurl: 'tab' }) })
    assert.deepEqual([again.status, again.body.link], [200, made.body.link])
    const list = await send(stage, '/links?limit=15', { key })
    assert.deepEqual([list.body.limit, list.body.data[0].link], [15, made.body.link])
  })

  test('takes the name of the service for no domain: the extension always sends it', async () => {
    const api = await stage.service.api('named')
    const own = await compatToken(stage.service, 'compat:kutt', 'named')
    const create = async (domain: string) => {
      const sent = { target: 'https://example.com/named', domain }
      const { status, body } = await send(stage, '/links', { key: own, ...json(sent) })
      return [status, new URL(body.link ?? 'none:').hostname]
    }
    const { port } = stage.service
    const names = ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, 'www.localhost']
    for (const name of names) assert.deepEqual(await create(name), [201, 'localhost'], name)
    expectStatus(await api.post('/domains', { domain: 'named.localhost' }), 201)
    expectStatus(await api.put('/default-domain', { domain: 'named.localhost' }), 200)
    for (const name of names) assert.deepEqual(await create(name), [201, 'named.localhost'], name)
    assert.deepEqual(await create('named.localhost'), [201, 'named.localhost'])
  })

  test('lets pages of other origins send a key', async () => {
    const { response } = await send(stage, '/links', {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
    })
    assert.match(response.headers.get('access-control-allow-headers') ?? '', /X-API-Key/)
  })

  const refusals: readonly (readonly [string, object, string])[] = [
    ['no target', {}, 'Target is missing.'],
    ['a target of another type', { target: 1 }, 'Invalid value'],
    ['a target that is no URL', { target: 'http://' }, 'URL is not valid.'],
    ['a custom URL with a space', { customurl: 'a b' }, 'Custom URL is not valid.'],
    ['a reserved custom URL', { customurl: 'api' }, "You can't use this custom URL."],
    ['a foreign domain', { domain: 'other.example' }, "You can't use this domain."],
    ['reuse that is neither', { reuse: 'maybe' }, 'Reuse must be boolean.'],
    [
      'months',
      { expire_in: '2 months' },
      'Expire format is invalid. Valid examples: 1m, 8h, 42 days.',
    ],
    ['too short a time', { expire_in: '30s' }, 'Expire time should be more than 1 minute.'],
    ['milliseconds', { expire_in: '59999' }, 'Expire time should be more than 1 minute.'],
  ]
  for (const [name, body, error] of refusals) {
    test(`refuses ${name} in the words of Kutt`, async () => {
      const target = name === 'no target' ? {} : { target: TARGET }
      const answer = await send(stage, '/links', { key, ...json({ ...target, ...body }) })
      assert.deepEqual([answer.status, answer.body], [400, { error }])
    })
  }

  const lifetimes: readonly (readonly [string, number])[] = [
    ['90000', 90_000],
    ['1.5m', 90_000],
    ['8h', 8 * 3_600_000],
    ['42 days', 42 * DAY_MS],
    ['1 Week', 7 * DAY_MS],
    ['1y', 365.25 * DAY_MS],
  ]
  for (const [expire_in, ms] of lifetimes) {
    test(`takes "${expire_in}" for an expiry`, async () => {
      const { body } = await send(stage, '/links', { key, ...json({ target: TARGET, expire_in }) })
      const lasts = Date.parse(body.expire_in) - Date.parse(body.created_at)
      assert.ok(Math.abs(lasts - ms) < 60_000, `${lasts} ms`)
    })
  }

  test('takes forms', async () => {
    const body = new URLSearchParams({ target: TARGET, customurl: 'form' })
    const answer = await send(stage, '/links', { key, method: 'POST', body })
    assert.deepEqual([answer.status, answer.body.address], [201, 'form'])
  })

  test('refuses other tokens, and its own once it is switched off', async () => {
    const unauthorized = { error: 'Unauthorized.' }
    const other = await compatToken(stage.service, 'compat:shlink')
    for (const wrong of [undefined, '', 'wrong', other, stage.token]) {
      const init = wrong === undefined ? {} : { key: wrong }
      const { status, body } = await send(stage, '/links', init)
      assert.deepEqual([status, body], [401, unauthorized])
    }
    const workspace = 'switched'
    const own = await compatToken(stage.service, 'compat:kutt', workspace)
    assert.equal((await send(stage, '/links', { key: own })).status, 200)
    const api = await stage.service.api(workspace)
    expectStatus(await api.put('/compat/kutt', { enabled: false }), 200)
    const off = await send(stage, '/links', { key: own })
    assert.deepEqual([off.status, off.body], [401, unauthorized])
  })

  test('answers unknown paths and damaged bodies as Kutt does', async () => {
    const unknown = await send(stage, '/nothing')
    assert.deepEqual([unknown.status, unknown.body], [404, { error: 'Not found.' }])
    const headers = { 'Content-Type': 'application/json' }
    const damaged = await send(stage, '/links', { key, method: 'POST', headers, body: '{' })
    assert.equal(damaged.status, 400)
    assert.deepEqual(Object.keys(damaged.body), ['error'])
  })
})

onSqlite(
  'the API of Kutt, with a limit',
  (stage) => {
    test('says when to send the next request', async () => {
      const key = await compatToken(stage.service, 'compat:kutt')
      const answers = [await send(stage, '/links', { key }), await send(stage, '/links', { key })]
      const [first, second] = answers
      assert.deepEqual([first?.status, second?.status], [200, 429])
      assert.deepEqual(Object.keys(second?.body), ['error'])
      assert.match(second?.response.headers.get('retry-after') ?? '', /^\d+$/)
    })
  },
  { TERSE_RATE_LIMIT: '1' },
)
