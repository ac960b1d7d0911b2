import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { isBot } from 'isbot'
import { apiDeps, type SourceApi, startSourceApi } from '../../../test/support/source-api.ts'
import { guardedAgents } from '../../platform/network/outgoing-request.ts'
import { LinkAsker } from './link-asker.ts'

const SIGNAL = new AbortController().signal

describe('LinkAsker', () => {
  const deps = apiDeps()
  let server: SourceApi

  before(async () => {
    server = await startSourceApi(({ method, path }) => {
      if (path === '/only-get' && method === 'HEAD') return { status: 405, text: '' }
      if (path === '/page') return { text: 'a page' }
      if (path === '/gone') return { status: 404, text: 'nothing' }
      return { status: 301, text: '', headers: { location: `https://a.example${path}` } }
    })
  })
  beforeEach(() => {
    server.requests.length = 0
  })
  after(async () => {
    deps.close()
    await server.close()
  })

  const ask = (path: string, agents = deps.agents) => {
    const asker = new LinkAsker({ ...deps, agents, requestsPerSecond: 1_000 })
    return asker.ask(new URL(path, server.url), SIGNAL)
  }
  const methods = () => server.requests.map(({ method }) => method)

  test('asks as a bot, once, and does not follow', async () => {
    const answer = { kind: 'redirect', status: 301, location: 'https://a.example/x' }
    assert.deepEqual(await ask('/x'), answer)
    assert.deepEqual(methods(), ['HEAD'])
    assert.ok(isBot(server.requests[0]?.headers['user-agent']))
  })

  test('asks by GET where HEAD gives no redirect', async () => {
    assert.equal((await ask('/only-get')).kind, 'redirect')
    assert.equal((await ask('/page')).kind, 'page')
    assert.equal((await ask('/gone')).kind, 'gone')
    assert.deepEqual(methods(), ['HEAD', 'GET', 'HEAD', 'GET', 'HEAD', 'GET'])
  })

  test('asks again after a limit, a failure and a cut connection', async () => {
    server.faults.push({ status: 429, text: '', headers: { 'retry-after': '9' } })
    server.faults.push({ status: 502, text: '' })
    const startMs = deps.clock.nowMs()
    assert.equal((await ask('/x')).kind, 'redirect')
    assert.equal(methods().length, 3)
    assert.ok(deps.clock.nowMs() - startMs >= 9_000)
  })

  test('throws at an address that is not allowed, with what to add', async () => {
    const closed = guardedAgents(() => false)
    await assert.rejects(ask('/x', closed), {
      ...{ name: 'PrivateServiceFault', message: /is not public\..* add --private\./ },
    })
    assert.deepEqual(methods(), [])
  })

  test('keeps the rate, and asks at another place with the link’s host', async () => {
    const port = Number(new URL(server.url).port)
    const connectTo = { host: '127.0.0.1', port }
    const asker = new LinkAsker({ ...deps, requestsPerSecond: 5, connectTo })
    const startMs = deps.clock.nowMs()
    const urls = ['one', 'two', 'three'].map((key) => new URL(`http://go.example.com/${key}`))
    await Promise.all(urls.map((url) => asker.ask(url, SIGNAL)))
    assert.equal(deps.clock.nowMs() - startMs, 400)
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.host),
      Array(3).fill('go.example.com'),
    )
  })
})
