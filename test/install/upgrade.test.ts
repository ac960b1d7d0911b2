import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { apiClient } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

/** With PostgreSQL, the dump of `pg_dump --inserts` beside the files of the data folder. */
const DUMP = 'database.sql'
/**
 * What earlier releases wrote. Their services were killed, so the data is that of a crash: rows in write-ahead
 * logs, and clicks in the journal that were not counted. Each release adds one for each engine.
 */
const RELEASES = [
  {
    version: '0.1.0',
    archives: {
      SQLite: 'data-folder-0.1.0.tar.gz',
      PostgreSQL: 'postgres-0.1.0.tar.gz',
    },
    tokens: {
      SQLite: 'terse_V3gkK5rMy6n3x75WHvBLM2xi9OCtK04T1Gb6',
      PostgreSQL: 'terse_4T8GoOOlJidGqK6yfJDzvJ3nqgLmL54XbI6r',
    },
    /** As many redirects as were answered. */
    clicks: { spring: 8, docs: 1, secret: 0 },
  },
] as const

/** Unpacks what a release wrote, and fills the database where there is one. */
async function unpack(archive: string, { dataDir, databaseUrl }: Place): Promise<void> {
  const file = new URL(`releases/${archive}`, import.meta.url)
  execFileSync('tar', ['-xzf', fileURLToPath(file), '-C', dataDir])
  if (databaseUrl === undefined) return
  const dump = path.join(dataDir, DUMP)
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    await client.query(readFileSync(dump, 'utf8'))
  } finally {
    await client.end()
  }
  rmSync(dump)
}

const CASES = RELEASES.flatMap((release) => ENGINES.map((engine) => ({ ...release, engine })))

describe('the data of an earlier release', () => {
  for (const { version, archives, tokens, clicks, engine } of CASES) {
    test(`of ${version} on ${engine.title} is upgraded, though killed meanwhile: its links, token and clicks are complete`, async (t) => {
      const place = await engine.createPlace()
      t.after(() => place.remove())
      await unpack(archives[engine.name], place)
      const token = tokens[engine.name]
      // Killed as it counts the journal of the release, or before.
      const killed = await startProcess(place)
      await killed.kill()
      const service = await startProcess(place)
      t.after(() => service.kill())
      const api = apiClient(`http://localhost:${service.port}`, token)
      const links = async (): Promise<readonly Link[]> => (await api.get('/links')).body.data
      await eventually(async () => {
        const counted = (await links()).map((one) => [one.key, one.clicks])
        assert.deepEqual(Object.fromEntries(counted), clicks)
      })

      const spring = (await links()).find(({ key }) => key === 'spring')
      assert.deepEqual(spring?.tags, ['print'])
      const { headers } = await visit(service.port, '/spring')
      assert.equal(headers.location, 'https://example.com/sale?utm_source=poster')
      const docs = await visit(service.port, '/docs', { host: 'go.localhost' })
      assert.equal(docs.headers.location, 'https://example.com/docs')
      const opened = await visit(service.port, '/secret', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'password=open+sesame',
      })
      assert.equal(opened.status, 303)

      const created = await api.post('/links', { domain: 'localhost', url: 'https://example.com/' })
      assert.equal(created.status, 201)
      // The visits of this test count on top of those of the release.
      await eventually(async () => {
        const again = (await links()).find(({ key }) => key === 'spring')
        assert.equal(again?.clicks, clicks.spring + 1)
      })
      assert.equal(await service.stop(), 0)
    })
  }
})

type Link = {
  readonly key: keyof (typeof RELEASES)[number]['clicks']
  readonly clicks: number
  readonly tags: readonly string[]
}
