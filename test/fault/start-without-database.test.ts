import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink } from '../support/links.ts'
import { type Service, startService } from '../support/service.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { visit } from '../support/visit.ts'
import { untilCachesAreSaved } from './saved-caches.ts'

const KEY = randomBytes(32).toString('hex')
const COPYING = { TERSE_LINK_COPY: 'on', TERSE_STOP_DELAY_SECONDS: '0' }

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('a node that starts while PostgreSQL is down', () => {
    /** An undisturbed node, and the settings of another with its own proxy to the database. */
    let service: Service
    let api: Api
    let network: TcpProxy
    let place: Place
    let node: ServiceProcess
    const ids = new Map<string, string>()
    let answered = 0
    before(async () => {
      service = await startService(engine, { TERSE_SECRET_KEY: KEY })
      api = await service.api()
      const url = new URL(service.place.databaseUrl ?? '')
      network = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
      url.port = String(network.port)
      place = await engine.createPlace()
      place = {
        ...place,
        env: { ...place.env, TERSE_DATABASE_URL: url.href, TERSE_SECRET_KEY: KEY },
      }
      for (const key of ['kept', 'changed', 'deleted', 'edited', 'cold']) {
        ids.set(key, (await createLink(api, { key })).id)
      }
      await createLink(api, { domain: 'copied.localhost', key: 'kept' })
      node = await startProcess(place, COPYING)
    })
    after(async () => {
      await node.stop()
      await network.close()
      await service.stop()
      await place.remove()
    })

    async function follow(key: string, host = 'localhost'): Promise<string | number> {
      const { status, headers } = await visit(node.port, `/${key}`, { host })
      if (status === 302) answered += 1
      return headers.location ?? status
    }

    async function counted(): Promise<number> {
      const client = new pg.Client(service.place.databaseUrl)
      await client.connect()
      try {
        const { rows } = await client.query('select count(*)::integer as clicks from clicks')
        return rows[0]?.clicks
      } finally {
        await client.end()
      }
    }

    test('redirects to the links in its saved cache, and answers 503 for all others', async () => {
      for (const key of ['kept', 'changed', 'deleted', 'edited']) {
        assert.equal(await follow(key), 'https://example.com/')
      }
      assert.equal(await follow('kept', 'copied.localhost'), 'https://example.com/')
      assert.equal(await follow('absent'), 404)
      const edited = { url: 'https://example.com/edited' }
      expectStatus(await api.patch(`/links/${ids.get('edited')}`, edited), 200)
      await untilCachesAreSaved(place, edited.url)
      await node.kill()
      network.cut()
      expectStatus(
        await api.patch(`/links/${ids.get('changed')}`, { url: 'https://example.com/new' }),
        200,
      )
      expectStatus(await api.delete(`/links/${ids.get('deleted')}`), 200)

      node = await startProcess(place, { ...COPYING, TERSE_PORT: String(node.port) })
      assert.match(node.output().stdout, /unavailable: cached links redirect/)
      for (const key of ['kept', 'changed', 'deleted']) {
        assert.equal(await follow(key), 'https://example.com/', key)
      }
      assert.equal(await follow('kept', 'copied.localhost'), 'https://example.com/')
      assert.equal(await follow('edited'), edited.url)
      for (const key of ['cold', 'absent']) assert.equal(await follow(key), 503, key)
      assert.equal(await follow('kept', 'unknown.localhost'), 503)
      assert.equal((await visit(node.port, '/livez')).status, 200)
      assert.equal((await visit(node.port, '/readyz?role=redirect')).status, 200)
      assert.equal((await visit(node.port, '/readyz?role=api')).status, 503)
      const away = apiClient(`http://127.0.0.1:${node.port}`, await service.token())
      assert.equal((await away.get('/links')).status, 503)
    })

    test('uses the changes made in the meantime when PostgreSQL is back', async () => {
      network.mend()
      await eventually(async () => {
        assert.equal(await follow('changed'), 'https://example.com/new')
        assert.equal(await follow('deleted'), 404)
      })
      assert.equal(await follow('kept'), 'https://example.com/')
      assert.equal(await follow('cold'), 'https://example.com/')
      assert.equal(await follow('edited'), 'https://example.com/edited')
      assert.equal(await follow('kept', 'copied.localhost'), 'https://example.com/')
      const back = apiClient(`http://127.0.0.1:${node.port}`, await service.token())
      await eventually(async () =>
        expectStatus(
          await back.post('/links', { domain: 'localhost', url: 'https://example.com/' }),
          201,
        ),
      )
      assert.equal(await node.stop(), 0)
    })

    test('exits with a message when it has never run before, or its secret key is another', async () => {
      network.cut()
      const fresh = await engine.createPlace()
      const env = { ...place.env, TERSE_DATA_DIR: fresh.dataDir }
      await assert.rejects(
        startProcess({ ...fresh, env }, COPYING),
        /The database is not available|cannot be reached/,
      )
      await fresh.remove()
      const other = { ...COPYING, TERSE_SECRET_KEY: randomBytes(32).toString('hex') }
      const wrong = await startProcess(place, other)
      const ended = new Promise((resolve) => wrong.child.on('close', resolve))
      assert.equal((await visit(wrong.port, '/kept')).status, 302)
      const before = await counted()
      network.mend()
      assert.equal(await ended, 1)
      assert.match(wrong.output().stderr, /The secret key is not the one/)
      assert.equal(
        await counted(),
        before,
        'a database that is not its own gets none of its clicks',
      )
      // The click waits in its journal for a node that has the key.
      answered += 1
    })

    test('has counted every answered visit, of all of its processes', async () => {
      node = await startProcess(place, COPYING)
      await eventually(async () => assert.equal(await counted(), answered))
    })
  })
}
