import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { runCommand } from '../support/run-command.ts'
import { type Service, startService } from '../support/service.ts'

const URL = 'https://example.com/'
const LINK = 'localhost/changed'

describe('options and history of links at the command line', () => {
  let service: Service
  let env: Record<string, string>
  before(async () => {
    service = await startService(SQLITE)
    env = { XDG_CONFIG_HOME: mkdtempSync(path.join(tmpdir(), 'terse-history-')) }
    const login = await runCommand(['login', service.baseUrl], env, await service.token('acme'))
    assert.equal(login.code, 0, login.stderr)
  })
  after(async () => {
    rmSync(env.XDG_CONFIG_HOME ?? '', { recursive: true })
    await service.stop()
  })

  const terse = async (...args: string[]): Promise<string> => {
    const result = await runCommand(['link', ...args], env)
    assert.equal(result.code, 0, result.stderr)
    return result.stdout.trimEnd()
  }

  test('set, show and clear options, and find archived links', async () => {
    const start = ['--active-from', '2026-12-01T08:00:00Z', '--max-clicks', '500']
    const more = ['--notes', 'On the flyer', '--path', 'append', '--query', 'drop', '--archive']
    const shared = ['--title', 'Spring sale', '--image', 'https://cdn.example/a.png']
    const place = ['--domain', 'localhost', '--key', 'limited']
    await terse('create', URL, ...place, ...start, ...more, ...shared)
    assert.equal(await terse('list', '--json'), '[]')
    const [listed] = JSON.parse(await terse('list', '--archived', '--json'))
    assert.equal(listed.key, 'limited')
    const { options } = JSON.parse(await terse('show', 'localhost/limited', '--json'))
    assert.deepEqual(
      [options.max_clicks, options.notes, options.path, options.query, options.archived],
      [500, 'On the flyer', 'append', 'drop', true],
    )
    const { title, description, image } = options
    assert.deepEqual(
      [title, description, image],
      ['Spring sale', null, 'https://cdn.example/a.png'],
    )
    const shown = await terse('update', 'localhost/limited', '--unarchive', '--clear', 'notes')
    assert.match(shown, /^max_clicks +500$/m)
    assert.doesNotMatch(shown, /^(notes|archived) /m)
    assert.equal(JSON.parse(await terse('list', '--json')).length, 1)
  })

  test('show the changes of a link, and undo one, or all after one', async () => {
    await terse('create', `${URL}first`, '--domain', 'localhost', '--key', 'changed')
    await terse('update', LINK, '--url', `${URL}second`)
    await terse('update', LINK, '--url', `${URL}third`, '--tag', 'a')
    const changes = JSON.parse(await terse('history', LINK, '--json'))
    const [third, second, first] = changes.map((one: { sequence: number }) => one.sequence)
    const shown = await terse('history', LINK, '--limit', '1')
    assert.match(shown, new RegExp(`^${third}  \\S+Z  test changed it$`, 'm'))
    assert.match(
      shown,
      /^ {2}url: https:\/\/example\.com\/second → https:\/\/example\.com\/third$/m,
    )
    const urlOf = async () => JSON.parse(await terse('show', LINK, '--json')).url
    await terse('revert', LINK, String(third), '--field', 'url')
    assert.equal(await urlOf(), `${URL}second`)
    const reverted = JSON.parse(await terse('revert', LINK, String(second), '--json'))
    assert.deepEqual([reverted.url, reverted.tags], [`${URL}first`, ['a']])
    await terse('revert', LINK, String(third), '--to')
    assert.equal(await urlOf(), `${URL}third`)
    const refused = await runCommand(['link', 'revert', LINK, String(first)], env)
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /is the creation of the link: delete the link instead/)
  })
})
