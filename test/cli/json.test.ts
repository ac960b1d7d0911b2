import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Place, SQLITE } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCommand } from '../support/run-command.ts'

describe('--json', () => {
  let place: Place
  let target: string
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    target = mkdtempSync(path.join(tmpdir(), 'terse-json-'))
    await makeInstance(place.env)
  })
  after(async () => {
    rmSync(target, { recursive: true })
    await place.remove()
  })

  const printed = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand([...args, '--json'], place.env)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }

  test('prints what was made, alone on standard output', async () => {
    const { name, id } = await printed('workspace', 'create', 'acme')
    assert.equal(name, 'acme')
    const [listed] = await printed('workspace', 'list')
    assert.equal(listed.id, id)
    const token = await printed('token', 'create', '--workspace', 'acme')
    assert.match(token.secret, /^terse_/)
    const [shown] = await printed('token', 'list', '--workspace', 'acme')
    assert.deepEqual([shown.id, shown.secret], [token.id, undefined])
    assert.match((await printed('setup')).url, /#code=/)
    const invite = ['person', 'invite', 'grace@example.com', '--workspace', 'acme']
    assert.match((await printed(...invite)).url, /#code=/)
    const events = await printed('event', 'list', '--workspace', 'acme')
    assert.ok(events.some(({ type }: { type: string }) => type === 'invitation.created'))
  })

  test('prints what was changed or removed', async () => {
    const add = ['domain', 'add', 'go.acme.test', '--workspace', 'acme']
    await printed(...add)
    assert.deepEqual(await printed('domain', 'default', 'go.acme.test', '--workspace', 'acme'), {
      domain: 'go.acme.test',
      workspace: 'acme',
      unicode_domain: 'go.acme.test',
    })
    const { domain, hsts_max_age } = await printed('domain', 'hsts', 'go.acme.test', '0')
    assert.deepEqual([domain, hsts_max_age], ['go.acme.test', 0])
    const removed = await printed('domain', 'remove', 'go.acme.test', '--workspace', 'acme')
    assert.equal(removed.unicode_domain, 'go.acme.test')
    const { id } = await printed('token', 'create', '--workspace', 'acme')
    assert.deepEqual(await printed('token', 'revoke', id), { id, state: 'revoked' })
    const file = path.join(target, 'acme.ndjson')
    const exported = await printed('export', '--workspace', 'acme', '-o', file)
    assert.deepEqual([exported.file, exported.format], [file, 'ndjson'])
    await printed('workspace', 'create', 'going')
    assert.equal((await printed('workspace', 'rename', 'going', 'gone')).name, 'gone')
    assert.equal((await printed('workspace', 'bind-groups', 'gone')).name, 'gone')
    assert.equal((await printed('workspace', 'delete', 'gone', '--yes')).name, 'gone')
  })

  test('prints what an import has done, keys that are reserved for operators included', async () => {
    const file = path.join(target, 'links.csv')
    writeFileSync(file, 'key,url\nspring,https://example.com/\nsignup,https://example.com/\n')
    const imported = await printed('import', 'csv', file, '--workspace', 'acme')
    assert.deepEqual([imported.status, imported.counts.created], ['succeeded', 2])
    assert.deepEqual(imported.unproved_domains, [])
    const other = path.join(target, 'elsewhere.csv')
    writeFileSync(other, 'domain,key,url\nlinks.acme.example,spring,https://example.com/\n')
    const elsewhere = await printed('import', 'csv', other, '--workspace', 'acme')
    assert.deepEqual(elsewhere.unproved_domains, ['links.acme.example'])
  })

  test('prints what a check of the files found', async () => {
    assert.deepEqual(await printed('repair'), { faults: [], steps: [] })
  })

  test('prints a backup, the list of backups and what was restored', async (t) => {
    const made = await printed('backup', target)
    assert.equal(made.target, target)
    const [listed] = await printed('restore', target, '--list')
    assert.equal(listed.name, made.name)
    const empty = await SQLITE.createPlace()
    t.after(() => empty.remove())
    const restore = ['restore', target, '--json']
    const { stdout, stderr } = await runCommand(restore, empty.env)
    assert.equal(JSON.parse(stdout).name, made.name, stderr)
  })
})
