import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { newImport, newReportRow } from '../storage/samples.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCommand } from '../support/run-command.ts'
import { type SourceApi, startSourceApi } from '../support/source-api.ts'

describe('terse import verify', () => {
  let place: Place
  let old: SourceApi
  const id = randomUUID()

  before(async () => {
    old = await startSourceApi(({ path }) =>
      path === '/open'
        ? { status: 302, text: '', headers: { location: 'https://example.com/open' } }
        : { status: 404, text: '' },
    )
    place = await SQLITE.createMigratedPlace()
    await makeInstance(place.env, async ({ store, workspaces }) => {
      const { id: workspaceId } = await workspaces.ensure(commandLine, 'acme')
      const rows = ['gone', 'open'].map((key, index) => ({
        ...newReportRow(id),
        number: index + 1,
        old_link: `/${key}`,
        link: `https://go.acme.test/${key}`,
      }))
      await store.write(async (stores) => {
        await stores.imports.insert(newImport(workspaceId, { id, status: 'succeeded' }))
        await stores.importRows.append(rows)
      })
    })
  })
  after(async () => {
    await old.close()
    await place.remove()
  })

  const verify = (...args: string[]) =>
    runCommand(['import', 'verify', '--workspace', 'acme', ...args], place.env)
  const line = () =>
    [
      ...[`${old.url}/open`, 'https://go.acme.test/open', 'different'],
      'The old service redirects; Terse answers that it is gone.',
      ...['302', 'https://example.com/open', '404', ''],
    ]
      .map((cell) => `"${cell}"`)
      .join(',')

  test('prints what differs, and ends with 2', async () => {
    const { code, stdout, stderr } = await verify('--old-url', old.url, '--private')
    assert.equal(code, 2, stderr)
    assert.deepEqual(stdout.trimEnd().split('\r\n').slice(1), [line()])
    assert.match(stderr, /^1 links lead to the same place, 1 differ, 0 could not be compared\.$/m)
  })

  test('stops at the first private address, with what to add', async () => {
    const { code, stderr } = await verify('--old-url', old.url)
    assert.equal(code, 1)
    assert.match(stderr, /127\.0\.0\.1:\d+ is at an address that is not public\..* add --private\./)
  })

  test('shows its own options in its help, not those of the import', async () => {
    const { stdout } = await verify('--help')
    assert.match(stdout, /--old-url/)
    assert.doesNotMatch(stdout, /--dry-run|--on-conflict/)
  })

  test('writes a report', async () => {
    const file = join(place.dataDir, 'differences.csv')
    const { code, stdout } = await verify(id, '--old-url', old.url, '--private', '--report', file)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(readFileSync(file, 'utf8'), /^"old_link","link","verdict",/)
    assert.ok(readFileSync(file, 'utf8').includes(line()))
  })

  test('prints JSON', async () => {
    const at = ['--old-url', old.url, '--private', '--json']
    const { code, stdout } = await verify(...at)
    assert.equal(code, 2)
    const answers = {
      old: { status: 302, location: 'https://example.com/open' },
      new: { status: 404, location: null },
    }
    const [old_link, link, verdict] = line().replaceAll('"', '').split(',')
    const reason = 'The old service redirects; Terse answers that it is gone.'
    const counts = { same: 1, different: 1, unknown: 0 }
    assert.deepEqual(JSON.parse(stdout), {
      differences: [{ old_link, link, verdict, reason, ...answers }],
      ...counts,
    })
    const file = join(place.dataDir, 'json.csv')
    const reported = await verify(...at, '--report', file)
    assert.deepEqual(JSON.parse(reported.stdout), counts)
    assert.ok(readFileSync(file, 'utf8').includes(line()))
  })

  test('needs a workspace', async () => {
    const { code, stderr } = await runCommand(['import', 'verify'], place.env)
    assert.equal(code, 5)
    assert.match(stderr, /--workspace/)
  })

  test('explains what is missing or wrong', async () => {
    const wrong: [string[], RegExp, number?][] = [
      [[], /own domain of the old service/, 1],
      [[randomUUID()], /Import not found/, 4],
      [['--old-url', 'ftp://old.example'], /http or https URL/],
      [['--rate', '0'], /a number up to 100/],
      [['--resolve', 'a/b'], /such as 127\.0\.0\.1:8080/],
    ]
    for (const [args, message, expected = 5] of wrong) {
      const { code, stderr } = await verify(...args)
      assert.equal(code, expected)
      assert.match(stderr, message)
    }
  })
})
