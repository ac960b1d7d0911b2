import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCommand } from '../support/run-command.ts'
import { startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

type Line = Readonly<Record<string, unknown>>

/** The lines of a type, without what a move cannot keep. */
function linesOf(file: string, type: string): readonly Line[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((line) => line.type === type)
    .map(({ id, link_id, updated_at, ...line }) => line)
}

test('a workspace is moved by two commands, with its single clicks, each counted once', async (t) => {
  const service = await startService(SQLITE, { TERSE_DOMAIN_PROOF: 'routing' })
  t.after(() => service.stop())
  const api = await service.api('acme')
  for (const key of ['one', 'two']) {
    const link = { domain: 'acme.localhost', key, url: 'https://example.com/', tags: [key] }
    expectStatus(await api.post('/links', link), 201)
  }
  for (const path of ['/one', '/one?qr=1', '/two']) {
    assert.equal((await visit(service.port, path, { host: 'acme.localhost' })).status, 302)
  }
  await visit(service.port, '/one', { host: 'acme.localhost', anonymous: true })
  await eventually(async () => {
    const { body } = await api.get('/clicks?bots=include')
    assert.deepEqual([body.total.clicks, body.total.bots], [3, 1])
  })

  const place = await SQLITE.createMigratedPlace()
  t.after(() => place.remove())
  const [before, after] = ['before', 'after'].map((name) => path.join(place.dataDir, name))
  const terse = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const { code, stderr } = await runCommand([...args, '--workspace', 'acme'], env)
    assert.equal(code, 0, stderr)
  }
  await terse(service.place.env, 'export', '--clicks', '-o', before ?? '')
  await makeInstance(place.env, async ({ workspaces }) => {
    await workspaces.create(commandLine, 'acme')
  })
  for (const round of ['first', 'second']) {
    await terse(place.env, 'import', 'terse', before ?? '')
    await terse(place.env, 'export', '--clicks', '-o', after ?? '')
    for (const type of ['link', 'click']) {
      assert.deepEqual(linesOf(after ?? '', type), linesOf(before ?? '', type), `${round} ${type}`)
    }
  }
  assert.equal(linesOf(after ?? '', 'click').length, 4)
})
