import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { apiClient, expectStatus } from '../support/api.ts'
import { compatToken } from '../support/compat.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink, type LinkBody } from '../support/links.ts'
import { createNetworkNamespace, type NetworkNamespace } from '../support/network-namespace.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { type Service, startService } from '../support/service.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { visit } from '../support/visit.ts'
import type { BitlyCall, BitlyOutcome, BitlySetting } from './bitly-process.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

const PROCESS = fileURLToPath(new URL('bitly-process.ts', import.meta.url))
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/

const todayMs = () => Date.now() - (Date.now() % 86_400_000)
const dateOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}+0000`

/** Sends requests as programs without a package do. */
function rawClient(baseUrl: string, token: string) {
  return async (method: string, address: string, body?: unknown) => {
    const response = await fetch(`${baseUrl}/v4${address}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const { status, headers } = response
    return { status, body: (await response.json()) as Body, retryAfter: headers.get('retry-after') }
  }
}

/** Runs npm `bitly` in a network namespace, in which port 443 leads to the service. */
class BitlyPackage {
  readonly #namespace: NetworkNamespace
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'terse-test-'))
  #way: Server | undefined
  #child: ChildProcess | undefined

  constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace
  }

  async start({ port }: Pick<Service, 'port'>): Promise<void> {
    const file = (name: string, content: string) => {
      writeFileSync(path.join(this.#folder, name), content, { mode: 0o600 })
      return path.join(this.#folder, name)
    }
    const socket = path.join(this.#folder, 'service.sock')
    this.#way = createServer((client) => {
      const service = connect(port, '127.0.0.1')
      client.on('error', () => service.destroy()).pipe(service)
      service.on('error', () => client.destroy()).pipe(client)
    }).listen(socket)
    await once(this.#way, 'listening')
    const authority = createTestAuthority()
    const { chainPem, keyPem } = authority.issue('localhost')
    const certificateFile = file('certificate.pem', chainPem)
    const setting: BitlySetting = { socket, certificateFile, keyFile: file('key.pem', keyPem) }
    const [command = '', ...words] = this.#namespace.command
    const args = [...words, process.execPath, PROCESS, JSON.stringify(setting)]
    const env = { NODE_EXTRA_CA_CERTS: file('authority.pem', authority.certificatePem) }
    this.#child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    await once(this.#child, 'message')
  }

  /** Calls a method of the client. Rejects with what the client rejects with. */
  async call(call: BitlyCall): Promise<Body> {
    const child = this.#child as ChildProcess
    const answered = once(child, 'message')
    child.send(call)
    const [{ result, error }] = (await answered) as [BitlyOutcome]
    if (error !== undefined) throw Object.assign(new Error('the client rejected'), { error })
    return result
  }

  async stop(): Promise<void> {
    if (this.#child?.connected) {
      const exited = once(this.#child, 'exit')
      this.#child.disconnect()
      await exited
    }
    this.#way?.close()
    this.#namespace.remove()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

onEachEngine('the API of Bitly', (stage) => {
  let token: string
  let raw: ReturnType<typeof rawClient>
  before(async () => {
    token = await compatToken(stage.service, 'compat:bitly')
    raw = rawClient(stage.service.baseUrl, token)
  })

  test('makes a Bitlink, and finds it again for the same URL', async () => {
    const sent = { long_url: 'https://a.example/x', domain: 'bit.ly', group_guid: 'Ba1bc23dE4F' }
    const made = await raw('POST', '/shorten', sent)
    assert.equal(made.status, 201)
    const { id, link, created_at, references } = made.body
    assert.match(id, /^localhost\/[a-z\d]{7}$/)
    assert.match(created_at, DATE)
    assert.deepEqual(made.body, {
      id,
      link: `https://${id}`,
      custom_bitlinks: [],
      long_url: sent.long_url,
      archived: false,
      created_at,
      tags: [],
      deeplinks: [],
      references,
    })
    const again = await raw('POST', '/shorten', sent)
    assert.deepEqual([again.status, again.body], [200, made.body])
    const expanded = await raw('POST', '/expand', { bitlink_id: id })
    assert.deepEqual(expanded.body, { id, link, long_url: sent.long_url, created_at })
  })

  test('keeps title and tags of a Bitlink, and changes them', async () => {
    const sent = { long_url: 'https://titled.example/', title: 'Titled', tags: ['b', 'a'] }
    const { status, body } = await raw('POST', '/bitlinks', sent)
    assert.equal(status, 201)
    assert.deepEqual([body.title, body.tags], ['Titled', ['b', 'a']])
    const address = `/bitlinks/${encodeURIComponent(body.id)}`
    const changed = await raw('PATCH', address, { title: 'New', archived: true, tags: ['c'] })
    assert.deepEqual(changed.body, { ...body, title: 'New', archived: true, tags: ['c'] })
    assert.deepEqual((await raw('GET', `/bitlinks/${body.id}`)).body, changed.body)
    const cleared = await raw('PATCH', address, { title: '', archived: false })
    const { title: _, ...untitled } = body
    assert.deepEqual(cleared.body, { ...untitled, tags: ['c'] })
  })

  const INVALID = [
    { path: '/shorten', body: {}, field: 'long_url' },
    { path: '/shorten', body: { long_url: 'no url' }, field: 'long_url' },
    { path: '/shorten', body: { long_url: 'https://x.example/', domain: 5 }, field: 'domain' },
    { path: '/bitlinks', body: { long_url: 'https://x.example/', title: 5 }, field: 'title' },
    { path: '/bitlinks', body: { long_url: 'https://x.example/', tags: 'x' }, field: 'tags' },
    { path: '/expand', body: {}, field: 'bitlink_id' },
  ]
  for (const { path: address, body: sent, field } of INVALID)
    test(`refuses ${JSON.stringify(sent)} at ${address}, naming ${field}`, async () => {
      const { status, body } = await raw('POST', address, sent)
      assert.equal(status, 400)
      assert.equal(body.message, `INVALID_ARG_${field.toUpperCase()}`)
      assert.equal(body.resource, 'bitlinks')
      assert.deepEqual(body.errors, [{ field, error_code: 'invalid' }])
      assert.equal(typeof body.description, 'string')
    })

  test('makes no link on a domain of another workspace, and adds none', async () => {
    const globex = await stage.service.api('globex')
    expectStatus(await globex.post('/domains', { domain: 'globex.localhost' }), 201)
    for (const domain of ['globex.localhost', 'new.localhost']) {
      const { status, body } = await raw('POST', '/shorten', {
        long_url: 'https://d.example/',
        domain,
      })
      assert.deepEqual([status, body.message], [400, 'INVALID_ARG_DOMAIN'])
    }
    assert.equal((await stage.api.get('/domains?domain=new.localhost')).body.data.length, 0)
  })

  test('finds no Bitlink of another workspace', async () => {
    const globex = await stage.service.api('globex')
    await createLink(globex, { key: 'globexkey', url: 'https://globex.example/' })
    const missing = { message: 'NOT_FOUND', resource: 'bitlinks' }
    for (const id of ['localhost/globexkey', 'bit.ly/globexkey', 'localhost/nosuch', 'nosuch']) {
      for (const rest of ['', '/clicks', '/clicks/summary', '/countries', '/referrers']) {
        const { status, body } = await raw('GET', `/bitlinks/${id}${rest}`)
        const { message, resource } = body
        assert.deepEqual([status, { message, resource }], [404, missing])
      }
      assert.equal((await raw('PATCH', `/bitlinks/${id}`, { title: 'x' })).status, 404)
      assert.equal((await raw('POST', '/expand', { bitlink_id: id })).status, 404)
    }
  })

  test('shows the workspace as user and as the only group', async () => {
    const { body: user } = await raw('GET', '/user')
    const guid = user.default_group_guid
    assert.match(user.created, DATE)
    assert.deepEqual(user, {
      login: 'acme',
      name: 'acme',
      is_active: true,
      created: user.created,
      modified: user.created,
      is_sso_user: false,
      is_2fa_enabled: false,
      emails: [],
      default_group_guid: guid,
    })
    const { groups } = (await raw('GET', '/groups')).body
    assert.equal(groups.length, 1)
    assert.deepEqual([groups[0].guid, groups[0].name, groups[0].is_active], [guid, 'acme', true])
    assert.deepEqual((await raw('GET', `/groups/${guid}`)).body, groups[0])
  })

  test('lists the Bitlinks of the group page by page', async () => {
    const api = await stage.service.api('initech')
    const links: LinkBody[] = []
    for (const key of ['one', 'two', 'three'])
      links.push(await createLink(api, { key, tags: [key] }))
    await createLink(api, { key: 'archived', archived: true })
    const list = rawClient(
      stage.service.baseUrl,
      await compatToken(stage.service, 'compat:bitly', 'initech'),
    )
    const { body: first } = await list('GET', '/groups/Bany/bitlinks?size=2')
    const idsOf = (body: Body) => body.links.map(({ id }: Body) => id)
    assert.deepEqual(idsOf(first), ['localhost/three', 'localhost/two'])
    const { search_after, next, total } = first.pagination
    assert.equal(total, 3)
    assert.equal(new URL(next).searchParams.get('search_after'), search_after)
    const { pathname, search } = new URL(next)
    const { body: second } = await list('GET', pathname.slice('/v4'.length) + search)
    assert.deepEqual([idsOf(second), second.pagination.next], [['localhost/one'], ''])
    const ids = async (query: string) =>
      idsOf((await list('GET', `/groups/Bany/bitlinks?${query}`)).body)
    assert.deepEqual(await ids('page=2&size=2'), ['localhost/one'])
    assert.deepEqual(await ids('query=tw'), ['localhost/two'])
    assert.deepEqual(await ids('tags=one'), ['localhost/one'])
    assert.deepEqual(await ids('archived=on'), ['localhost/archived'])
    assert.equal((await ids('archived=both')).length, 4)
  })

  describeMetrics(stage, (...args) => raw(...args))
  describePackage(stage)

  test('refuses a token for something else, and its own token the API', async () => {
    for (const other of ['', 'x', stage.token, await compatToken(stage.service, 'compat:kutt')]) {
      const { status, body } = await rawClient(stage.service.baseUrl, other)('GET', '/user')
      const { message, resource } = body
      assert.deepEqual([status, message, resource], [403, 'FORBIDDEN', 'user'])
    }
    assert.equal((await apiClient(stage.service.baseUrl, token).get('/links')).status, 403)
  })

  test('refuses every token while it is switched off', async () => {
    expectStatus(await stage.api.put('/compat/bitly', { enabled: false }), 200)
    assert.equal((await raw('GET', '/user')).status, 403)
    expectStatus(await stage.api.put('/compat/bitly', { enabled: true }), 200)
    assert.equal((await raw('GET', '/user')).status, 200)
  })

  test('answers in the form of Bitly for what it does not have, and for a damaged body', async () => {
    const unknown = await raw('GET', '/campaigns')
    assert.deepEqual([unknown.status, unknown.body.message], [404, 'NOT_FOUND'])
    const damaged = await raw('POST', '/shorten', '{')
    assert.deepEqual([damaged.status, damaged.body.message], [400, 'BAD_REQUEST'])
    assert.equal(damaged.body.resource, 'bitlinks')
  })
})

function describeMetrics(stage: Stage, raw: ReturnType<typeof rawClient>) {
  test('counts clicks by each unit, in all, and by country and referrer', async () => {
    const { id } = (await raw('POST', '/shorten', { long_url: 'https://hot.example/' })).body
    const { port } = stage.service
    const key = id.slice('localhost'.length)
    await visit(port, key, { headers: { referer: 'https://news.example/today' } })
    await visit(port, key)
    const read = async (rest: string) => (await raw('GET', `/bitlinks/${id}${rest}`)).body
    await eventually(async () => assert.equal((await read('/clicks/summary')).total_clicks, 2))
    for (const unit of ['minute', 'hour', 'day', 'week', 'month']) {
      await eventually(async () => {
        const { link_clicks, unit_reference, ...range } = await read(`/clicks?unit=${unit}&units=3`)
        assert.deepEqual(range, { unit, units: 3 })
        assert.match(unit_reference, DATE)
        assert.equal(link_clicks.length, 3)
        for (const { date } of link_clicks) assert.match(date, DATE)
        const sum = link_clicks.reduce((all: number, { clicks }: Body) => all + clicks, 0)
        assert.equal(sum, 2)
      })
    }
    assert.equal((await read('/clicks/summary?unit=day&units=2')).total_clicks, 2)
    const { facet, metrics, units } = await read('/referrers')
    assert.deepEqual([facet, units], ['referrers', -1])
    const byValue = (a: Body, b: Body) => (a.value < b.value ? -1 : 1)
    assert.deepEqual(metrics.sort(byValue), [
      { value: 'direct', clicks: 1 },
      { value: 'https://news.example/', clicks: 1 },
    ])
    const countries = await read('/countries?unit=month&units=1')
    assert.deepEqual(
      [countries.facet, countries.metrics],
      ['countries', [{ value: 'unknown', clicks: 2 }]],
    )
    const past = await read('/clicks?units=2&unit_reference=2020-02-26T10:11:12%2B0000')
    assert.deepEqual(past.link_clicks, [
      { date: '2020-02-26T00:00:00+0000', clicks: 0 },
      { date: '2020-02-25T00:00:00+0000', clicks: 0 },
    ])
    const weeks = await read('/clicks?unit=week&units=2&unit_reference=2020-02-26T10:11:12%2B0000')
    assert.deepEqual(
      weeks.link_clicks.map(({ date }: Body) => date.slice(0, 10)),
      ['2020-02-24', '2020-02-17'],
    )
    const months = await read(
      '/clicks?unit=month&units=3&unit_reference=2020-01-31T23:59:59%2B0000',
    )
    assert.deepEqual(
      months.link_clicks.map(({ date }: Body) => date.slice(0, 10)),
      ['2020-01-01', '2019-12-01', '2019-11-01'],
    )
  })

  for (const query of ['unit=year', 'units=0', 'size=x', 'unit_reference=yesterday'])
    test(`refuses metrics with ${query}`, async () => {
      const { id } = (await raw('POST', '/shorten', { long_url: 'https://hot.example/' })).body
      const { status, body } = await raw('GET', `/bitlinks/${id}/clicks?${query}`)
      const field = query.split('=')[0]
      assert.deepEqual([status, body.errors], [400, [{ field, error_code: 'invalid' }]])
    })
}

function describePackage(stage: Stage) {
  const namespace = createNetworkNamespace(0)
  const skip = namespace === undefined && 'needs root and network namespaces'

  describe('with npm bitly', { skip }, () => {
    const bitly = new BitlyPackage(namespace as NetworkNamespace)
    let token: string
    const call = (method: string, ...args: unknown[]) => bitly.call({ token, method, args })
    before(async () => {
      token = await compatToken(stage.service, 'compat:bitly')
      await bitly.start(stage.service)
    })
    after(() => bitly.stop())

    test('shortens, expands and shows', async () => {
      const long_url = 'https://github.example/tanepiper/node-bitly'
      const made = await call('shorten', long_url)
      assert.equal((await call('shorten', long_url)).id, made.id)
      // Seven characters, which the client turns to bit.ly/….
      for (const name of [
        made.id,
        made.link,
        made.id.split('/')[1],
        `bit.ly/${made.id.split('/')[1]}`,
      ]) {
        assert.deepEqual(await call('getBitlink', name), made)
        assert.deepEqual(await call('info', name), made)
        const { id, link, created_at } = made
        assert.deepEqual(await call('expand', name), { id, link, created_at, long_url })
      }
    })

    test('shows a link with a short key, whose address it puts in the path', async () => {
      await createLink(stage.api, { key: 'abc', url: 'https://abc.example/' })
      assert.equal(
        (await call('getBitlink', 'https://localhost/abc')).long_url,
        'https://abc.example/',
      )
      assert.equal((await call('getBitlink', 'localhost/abc')).id, 'localhost/abc')
    })

    test('shows a link on another domain than the usual one', async () => {
      await createLink(stage.api, { domain: 'go.localhost', key: 'elsewhere' })
      assert.equal(
        (await call('getBitlink', 'https://go.localhost/elsewhere')).id,
        'go.localhost/elsewhere',
      )
    })

    test('counts clicks', async () => {
      const { id, link } = await call('shorten', 'https://counted.example/')
      await visit(stage.service.port, new URL(link).pathname)
      await eventually(async () => {
        const days = await call('clicks', id)
        assert.deepEqual(days.link_clicks, [{ date: dateOf(todayMs()), clicks: 1 }])
        assert.deepEqual([days.unit, days.units], ['day', -1])
      })
      assert.deepEqual((await call('clicksByDay', id)).link_clicks.length, 1)
      const minutes = await call('clicksByMinute', id)
      assert.equal(minutes.unit, 'minute')
      assert.equal(
        minutes.link_clicks.reduce((sum: number, each: Body) => sum + each.clicks, 0),
        1,
      )
      assert.deepEqual((await call('referrers', id)).metrics, [{ value: 'direct', clicks: 1 }])
      assert.equal((await call('countries', id)).metrics[0].clicks, 1)
      const summary = await call('bitlyRequest', `bitlinks/${id}/clicks/summary`, {}, 'GET')
      assert.equal(summary.total_clicks, 1)
    })

    test('sends any other request', async () => {
      const { default_group_guid } = await call('bitlyRequest', 'user', {}, 'GET')
      const { groups } = await call('bitlyRequest', 'groups', {}, 'GET')
      assert.equal(groups[0].guid, default_group_guid)
      const sent = { long_url: 'https://full.example/', title: 'Full', tags: ['x'] }
      const { id, title } = await call('bitlyRequest', 'bitlinks', sent)
      assert.equal(title, 'Full')
      const changed = await call('bitlyRequest', `bitlinks/${id}`, { title: 'New' }, 'PATCH')
      assert.equal(changed.title, 'New')
    })

    test('makes links on the domain of its config', async () => {
      await createLink(stage.api, { domain: 'go.localhost' })
      const config = { domain: 'go.localhost' }
      const args = ['https://configured.example/']
      const { id } = await bitly.call({ token, config, method: 'shorten', args })
      assert.match(id, /^go\.localhost\//)
    })

    test('rejects with the body of a refusal', async () => {
      const invalid = await call('shorten', 'no url').catch(({ error }) => error)
      assert.equal(invalid.message, 'INVALID_ARG_LONG_URL')
      const missing = await call('getBitlink', 'localhost/none').catch(({ error }) => error)
      assert.equal(missing.message, 'NOT_FOUND')
      const wrong = { token: 'x', method: 'shorten', args: ['https://x.example/'] }
      const forbidden = await bitly.call(wrong).catch(({ error }) => error)
      assert.equal(forbidden.message, 'FORBIDDEN')
      const deprecated = await call('lookup', 'https://x.example/').catch(({ error }) => error)
      assert.match(deprecated, /^DEPRECATED/)
    })
  })
}

describe('the limits of the API of Bitly', () => {
  test('are answered in its form, with when to come back', async (t) => {
    const service = await startService(SQLITE, { TERSE_RATE_LIMIT: '2' })
    t.after(() => service.stop())
    const raw = rawClient(service.baseUrl, await compatToken(service, 'compat:bitly'))
    for (const _ of [1, 2]) assert.equal((await raw('GET', '/user')).status, 200)
    const { status, body, retryAfter } = await raw('GET', '/user')
    assert.deepEqual([status, body.message, body.resource], [429, 'RATE_LIMIT_EXCEEDED', 'user'])
    assert.match(retryAfter ?? '', /^\d+$/)
  })
})
