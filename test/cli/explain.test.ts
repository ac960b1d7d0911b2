import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { runCommand } from '../support/run-command.ts'
import { type Service, startService } from '../support/service.ts'

const LINK = 'localhost/spring'
const RULES = [
  {
    ...{ id: 'de', name: 'Germany', when: { country: ['DE', 'AT'], not: { bot: true } } },
    then: { url: 'https://example.com/de' },
  },
  {
    ...{ id: 'vip', when: { query: [{ name: 'vip', present: true }] } },
    then: {
      split: [
        { name: 'A', url: 'https://example.com/a', weight: 1 },
        { name: 'B', url: 'https://example.com/b', weight: 0 },
      ],
    },
  },
]

describe('terse rules and terse explain', () => {
  let service: Service
  let env: Record<string, string>
  let file: string
  before(async () => {
    service = await startService(SQLITE)
    const folder = mkdtempSync(path.join(tmpdir(), 'terse-explain-'))
    env = { XDG_CONFIG_HOME: folder }
    file = path.join(folder, 'rules.json')
    writeFileSync(file, JSON.stringify({ rules: RULES }))
    const token = await service.token('acme')
    const login = await runCommand(['login', service.baseUrl], env, token)
    assert.equal(login.code, 0, login.stderr)
    const api = await service.api()
    const link = { domain: 'localhost', key: 'spring', url: 'https://example.com/there' }
    assert.equal((await api.post('/links', link)).status, 201)
  })
  after(async () => {
    rmSync(env.XDG_CONFIG_HOME ?? '', { recursive: true })
    await service.stop()
  })

  const terse = async (...args: string[]): Promise<string> => {
    const result = await runCommand(args, env)
    assert.equal(result.code, 0, result.stderr)
    return result.stdout.trimEnd()
  }

  test('replace rules from a file, and show them as sentences or as JSON', async () => {
    assert.equal(await terse('rules', LINK), 'It has no rules.')
    const shown = await terse('rules', 'set', LINK, file)
    assert.deepEqual(shown.split('\n'), [
      '1. Germany',
      '   if country is DE or AT and bot is not true',
      '   → https://example.com/de',
      '2. vip',
      '   if query is vip',
      '   A, 100 % → https://example.com/a',
      '   B, 0 % → https://example.com/b',
    ])
    assert.deepEqual(JSON.parse(await terse('rules', LINK, '--json')), { rules: RULES })
  })

  test('explain where a visitor goes, as text or as JSON', async () => {
    const args = ['explain', LINK, '--country', 'CH', '--query', 'vip&a=1', '--qr']
    assert.deepEqual((await terse(...args)).split('\n'), [
      '302 → https://example.com/a?vip&a=1',
      'Decided by the rule vip, variant A by its weight.',
      '  ✗ 1. Germany: when.country wants DE or AT, found CH',
      '  ✓ 2. vip',
      '  destination  https://example.com/a',
      '  added  vip',
      '  added  a=1',
      '  removed  qr=1 (qr)',
      'Counts as one of a bot: no_user_agent.',
    ])
    assert.match(await terse('explain', LINK, '--path', '/spring/more'), /^404 /)
    const { decided_by } = JSON.parse(await terse(...args, '--json'))
    assert.equal(decided_by.rule, 'vip')
  })

  test('refuse a change of an example until it is accepted', async () => {
    const api = await service.api()
    const { data } = (await api.get('/links?key=spring')).body
    const examples = [{ name: 'A German', visitor: { country: 'DE' } }]
    const kept = await api.put(`/links/${data[0].id}/examples`, { examples })
    assert.equal(kept.status, 200)
    writeFileSync(file, '[]')
    const refused = await runCommand(['rules', 'set', LINK, file], env)
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /A German\. Give --accept-changes/)
    const accepted = await terse('rules', 'set', LINK, file, '--accept-changes')
    assert.equal(accepted, 'It has no rules.')
  })
})
