import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { greet } from '../../src/app/cli/greeting.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { apiClient, expectStatus, untilServed } from '../support/api.ts'
import { ENGINES, type Engine, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeInstance } from '../support/make-instance.ts'
import { paste } from '../support/paste.ts'
import { skipWithout } from '../support/programs.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const TOKEN = /terse_[0-9A-Za-z]{36}/g

/** The curl line of a greeting. */
function curlLine(greeting: string): string {
  const line = greeting.split('\n').find((text) => text.trim().startsWith('curl '))
  assert.ok(line, greeting)
  return line.trim()
}

/** The token in a greeting, which contains it twice: alone, and in the curl line. */
function tokenOf(greeting: string): string {
  const found = greeting.match(TOKEN) ?? []
  assert.equal(found.length, 2, greeting)
  assert.equal(new Set(found).size, 1)
  return String(found[0])
}

/**
 * A data folder or database on an engine, and a function that starts services there, which end with
 * the test.
 */
async function prepare(t: TestContext, engine: Engine) {
  const place = await engine.createPlace()
  const services: ServiceProcess[] = []
  t.after(async () => {
    for (const { child, kill } of services) if (child.exitCode === null) await kill()
    await place.remove()
  })
  async function start(settings: Record<string, string> = {}): Promise<ServiceProcess> {
    const service = await startProcess(place, settings)
    services.push(service)
    return service
  }
  return { place, start }
}

for (const engine of ENGINES) {
  describe(`terse serve on ${engine.title}`, () => {
    const skip = skipWithout('curl')
    test('greets with its addresses, and a curl line that works at the first start', {
      skip,
    }, async (t) => {
      const { place, start } = await prepare(t, engine)
      const service = await start()
      const { stdout } = service.output()
      const base = `http://localhost:${service.port}`
      assert.match(stdout, new RegExp(`^Terse is running at ${base}\n`))
      assert.ok(stdout.includes(`${base}/docs`))
      assert.ok(stdout.includes(place.dataDir))
      assert.match(stdout, new RegExp(`Database +${engine.name} [0-9.]+`))
      assert.ok(stdout.includes('workspace "default"'))
      const token = tokenOf(stdout)

      const pasted = await paste(curlLine(stdout))
      assert.equal(pasted.code, 0, pasted.stderr)
      const link = JSON.parse(pasted.stdout)
      assert.equal(link.url, 'https://example.com/')
      assert.equal(link.key, 'hello')

      const [, follow] = /Then follow it: (\S+)/.exec(stdout) ?? []
      assert.equal(follow, `${base}/hello`)
      assert.match(stdout, new RegExp(`\n\n  ${base}/app/setup#code=[\\w-]{43}\n\n?$`))

      const { status, headers } = await visit(service.port, '/hello')
      assert.deepEqual([status, headers.location], [302, 'https://example.com/'])
      const api = apiClient(`http://127.0.0.1:${service.port}`, token)
      await eventually(async () => {
        assert.equal(expectStatus(await api.get(`/links/${link.id}`), 200).body.clicks, 1)
      })

      assert.equal(await service.stop(), 0)
      const second = (await start()).output().stdout
      assert.match(second, /^Terse is running at /)
      assert.doesNotMatch(second, TOKEN)
      assert.doesNotMatch(second, /curl|first start/)
    })

    test('prints one token when two processes start at the same time', async (t) => {
      const { start } = await prepare(t, engine)
      const both = await Promise.all([start(), start()])
      const greetings = both.map((service) => service.output().stdout).join('')
      assert.equal(greetings.match(/Terse is running at/g)?.length, 2)
      tokenOf(greetings)
    })
  })
}

describe('terse serve', () => {
  test('does not point to a dashboard that is not built, and says how to build it', async (t) => {
    const { place } = await prepare(t, SQLITE)
    const config = { ...readConfig(place.env), dashboardFolder: place.dataDir }
    await makeInstance(place.env, async (instance) => {
      const { text } = await greet(config, instance)
      assert.doesNotMatch(text, /Open the dashboard|\/app\//)
      assert.match(
        text,
        /dashboard is not built[\s\S]*npm ci --include=dev && npm run build\n.* setup\n$/,
      )
      writeFileSync(path.join(place.dataDir, 'index.html'), '')
      assert.match((await greet(config, instance)).text, /Open the dashboard[\s\S]*\/app\//)
    })
  })

  test('prints no token when a workspace already exists', async (t) => {
    const { place, start } = await prepare(t, SQLITE)
    await makeInstance(place.env, async ({ workspaces }) => {
      await workspaces.create(commandLine, 'acme')
    })
    const service = await start()
    assert.doesNotMatch(service.output().stdout, TOKEN)
  })

  test('keeps running on SIGHUP, and logs that a single process cannot reload', async (t) => {
    const { start } = await prepare(t, SQLITE)
    const service = await start()
    service.child.kill('SIGHUP')
    await eventually(async () => assert.match(service.output().stderr, /"reload ignored"/))
    assert.equal((await visit(service.port, '/livez')).status, 200)
    assert.equal(await service.stop(), 0)
  })

  test('writes no secret to its log, at any level', async (t) => {
    const { start } = await prepare(t, SQLITE)
    const service = await start({ TERSE_LOG_LEVEL: 'trace' })
    const token = tokenOf(service.output().stdout)
    const api = apiClient(`http://127.0.0.1:${service.port}`, token)
    const password = 'correct-horse-battery'
    const link = { domain: 'localhost', key: 'sealed', url: 'https://example.com/', password }
    const once = { 'idempotency-key': 'sealed' }
    expectStatus(await untilServed(() => api.post('/links', link, once)), 201)
    expectStatus(await api.post('/links', { ...link, password: 7 }), 422)
    const form = await eventually(async () => {
      const answer = await visit(service.port, '/sealed', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `password=${password}`,
      })
      assert.equal(answer.status, 303)
      return answer
    }, 60_000)
    const cookie = form.headers['set-cookie']?.[0]?.split(';')[0]?.split('=')[1]
    assert.ok(cookie)
    assert.equal(await service.stop(), 0)

    const { stderr } = service.output()
    for (const secret of [token, password, cookie]) {
      assert.ok(!stderr.includes(secret), `the log holds ${secret}`)
    }
  })

  test('uses the given folder and address, and keeps the folder private', async (t) => {
    const { place, start } = await prepare(t, SQLITE)
    const folder = path.join(place.dataDir, 'made')
    const service = await start({
      TERSE_DATA_DIR: folder,
      TERSE_BASE_URL: 'https://go.example.com',
    })
    const { stdout } = service.output()
    assert.match(stdout, /^Terse is running at https:\/\/go\.example\.com\n/)
    assert.match(curlLine(stdout), /^curl https:\/\/go\.example\.com\/api\/v1\/links /)
    assert.match(curlLine(stdout), /"domain":"go\.example\.com"/)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    assert.equal(statSync(path.join(folder, 'secret.key')).mode & 0o777, 0o600)
  })
})
