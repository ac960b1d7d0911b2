import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PNG } from 'pngjs'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { runCommand } from '../support/run-command.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const HOST = 'go.localhost'
const RULES = [{ id: 'de', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } }]
const APPLE = { applinks: { details: [{ appIDs: ['ABCDE12345.com.acme.app'] }] } }

describe('commands for what a workspace has besides links', () => {
  let service: Service
  let env: Record<string, string>
  let folder: string
  before(async () => {
    service = await startService(SQLITE)
    folder = mkdtempSync(path.join(tmpdir(), 'terse-settings-'))
    env = { XDG_CONFIG_HOME: folder }
    const login = await runCommand(['login', service.baseUrl], env, await service.token('acme'))
    assert.equal(login.code, 0, login.stderr)
    const api = await service.api()
    expectStatus(await api.post('/domains', { domain: HOST }), 201)
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await service.stop()
  })

  const terse = async (...args: string[]): Promise<string> => {
    const result = await runCommand(args, env)
    assert.equal(result.code, 0, result.stderr)
    return result.stdout.trimEnd()
  }
  const refused = async (...args: string[]): Promise<string> => {
    const result = await runCommand(args, env)
    assert.notEqual(result.code, 0)
    return result.stderr
  }
  const fileOf = (name: string, value: unknown): string => {
    const file = path.join(folder, name)
    writeFileSync(file, JSON.stringify(value))
    return file
  }

  test('labels switches labels on and off, and changes their list', async () => {
    assert.equal(await terse('labels'), 'Labels are read from ?via=…')
    assert.equal(await terse('labels', 'on', 'from'), 'Labels are read from ?from=…')
    const added = await terse('labels', 'add', 'newsletter', 'podcast')
    assert.match(added, /Always counted:\nnewsletter\npodcast$/)
    await terse('labels', 'remove', 'podcast')
    assert.match(await terse('labels', 'off'), /^Labels are off\./)
    const shown = JSON.parse(await terse('labels', '--json'))
    assert.deepEqual(shown, { parameter: null, labels: ['newsletter'] })
  })

  test('link has a rule set, examples, compared variants and a picture', async () => {
    const variant = (name: string) => ({ name, url: `https://example.com/${name}`, weight: 1 })
    const split = { id: 'ab', name: 'Two pages', then: { split: [variant('A'), variant('B')] } }
    await terse('rule-sets', 'set', 'Pages', fileOf('pages.json', [...RULES, split]))
    const link = `${HOST}/pages`
    const place = ['--domain', HOST, '--key', 'pages', '--rule-set', 'pages']
    await terse('link', 'create', 'https://example.com/', ...place)
    assert.equal(await terse('link', 'examples', link), 'It has no examples.')
    const examples = [{ name: 'Germany', visitor: { country: 'DE' } }]
    const shown = await terse('link', 'examples', link, fileOf('examples.json', examples))
    assert.equal(shown, 'Germany: country DE → https://example.com/de')
    const update = ['link', 'update', link, '--clear', 'rule_set'] as const
    assert.match(await refused(...update), /what examples of the link get.* Give --accept-changes/)
    const compared = await terse('link', 'variants', link)
    assert.match(compared, /^Two pages: Not enough data.*\n\nVARIANT .*\nA +0 +– +50\.0 %/)
    await terse(...update, '--accept-changes')
    await terse('rule-sets', 'delete', 'Pages', '--yes')
    const none = 'None of its rules divides visitors.'
    assert.equal(await terse('link', 'variants', link), none)
    const file = path.join(folder, 'picture.png')
    writeFileSync(file, PNG.sync.write(new PNG({ width: 2, height: 2 })))
    const preview = await terse('link', 'preview', link, '--image', file)
    assert.match(preview, /^title: –\ndescription: –\nimage: http.*\/assets\/images\//)
  })

  test('webhook creates, lists, tests, changes and deletes an endpoint', async () => {
    assert.equal(await terse('webhook', 'list'), 'There are no webhooks.')
    const url = 'https://hooks.invalid/terse'
    const create = ['webhook', 'create', url, '--name', 'Shop', '--events', 'link.created']
    assert.match(await terse(...create, 'link.clicked', '--tag', 'sale'), /^whsec_/)
    assert.match(
      await terse('webhook', 'list'),
      /Shop +https:\/\/hooks.invalid\/terse +link.created link.clicked +healthy +0/,
    )
    await terse('webhook', 'update', 'shop', '--ordered', '--events', 'link.deleted')
    await terse('webhook', 'disable', 'SHOP')
    const shown = await terse('webhook', 'show', 'Shop')
    assert.match(
      shown,
      /Events: link.deleted\nOnly for: sale\nOrder: kept\nState: disabled \(by_hand\)/,
    )
    assert.match(await refused('webhook', 'test', 'Shop'), /did not take the test/)
    assert.match(
      await terse('webhook', 'attempts', 'Shop', '--failed'),
      /unreachable +\d+ ms +webhook.test/,
    )
    assert.match(
      await refused('webhook', 'replay', 'Shop', '--from', '2026-01-01T00:00:00Z'),
      /disabled/,
    )
    await terse('webhook', 'enable', 'Shop')
    await terse('webhook', 'replay', 'Shop', '--from', '2026-01-01T00:00:00Z', '--undelivered')
    assert.match(await terse('webhook', 'rotate-secret', 'Shop'), /^whsec_/)
    await terse('webhook', 'delete', 'Shop', '--yes')
    assert.equal(await terse('webhook', 'list'), 'There are no webhooks.')
  })

  test('conversions sets what is tracked, reports, lists and counts', async () => {
    assert.match(await terse('conversions', 'settings'), /^Links and domains that say so get/)
    const args = ['--track', 'all', '--parameter', 'ref', '--window-days', '60']
    const shown = await terse('conversions', 'settings', ...args)
    assert.equal(shown, 'All destinations get a token in ?ref=…, accepted for 60 days.')
    await terse('link', 'create', 'https://shop.example.com/', '--domain', HOST, '--key', 'shop')
    const visitShop = async () => (await visit(service.port, '/shop', { host: HOST })).headers
    const { location = '' } = await visitShop()
    const token = new URL(location).searchParams.get('ref') ?? ''
    const order = ['report', token, 'order', '--value', '7490', '--currency', 'EUR']
    assert.match(await terse('conversions', ...order), /order +74\.90 EUR +go\.localhost\/shop$/)
    assert.match(await terse('conversions', 'list'), /order +74\.90 EUR/)
    await terse('conversions', 'report', token, 'order', '--value', '-500', '--currency', 'EUR')
    const listed = JSON.parse(await terse('conversions', 'list', '--limit', '1', '--json'))
    assert.deepEqual(
      listed.map(({ value }: { value: number }) => value),
      [-500],
    )
    const wrong = ['conversions', 'report', token, 'order', '--value', 'many']
    assert.match(await refused(...wrong), /whole number of minor units/)
    assert.match(
      await terse('conversions', '--by', 'link'),
      /go\.localhost\/shop +1 +1 +69\.90 EUR$/,
    )
    await terse('link', 'update', `${HOST}/shop`, '--track-conversions', 'off')
    assert.equal((await visitShop()).location, 'https://shop.example.com/')
    await terse('conversions', 'settings', '--track', 'none')
  })

  test('rule-sets creates, shows, replaces, renames and deletes a set', async () => {
    assert.equal(await terse('rule-sets', 'list'), 'There are no rule sets.')
    const shown = await terse('rule-sets', 'set', 'Shops', fileOf('rules.json', RULES))
    assert.match(shown, /country is DE\n {3}→ https:\/\/example\.com\/de$/)
    const json = await terse('rule-sets', 'show', 'sHOPS', '--json')
    assert.deepEqual(JSON.parse(json).rules, RULES)
    await terse('rule-sets', 'set', 'shops', fileOf('none.json', { rules: [] }))
    await terse('rule-sets', 'set', 'shops', fileOf('set.json', JSON.parse(json)))
    await terse('rule-sets', 'rename', 'Shops', 'Länder')
    const [set, ...more] = JSON.parse(await terse('rule-sets', 'list', '--json'))
    assert.deepEqual([set.name, set.rules, more.length], ['Länder', RULES, 0])
    assert.match(await terse('rule-sets', 'list'), /Länder +1 +0 +0/)
    assert.match(await refused('rule-sets', 'show', 'Shops'), /There is no rule set Shops/)
    assert.match(await refused('rule-sets', 'delete', 'länder'), /--yes/)
    await terse('rule-sets', 'delete', set.id, '--yes')
    assert.equal(await terse('rule-sets', 'list'), 'There are no rule sets.')
  })

  test('domain settings changes those that are given, and removes those that are cleared', async () => {
    assert.match(await terse('domain', 'settings', HOST), /has the settings of a new domain/)
    await terse('rule-sets', 'set', 'Default', fileOf('default.json', RULES))
    const { id } = JSON.parse(await terse('rule-sets', 'show', 'Default', '--json'))
    await terse(
      ...['domain', 'settings', HOST, '--root-url', 'https://example.com/', '--robots', 'index'],
      ...['--utm-source', 'short', '--utm-medium', 'link', '--rule-set', 'default'],
      ...['--apple-app-site-association', fileOf('apple.json', APPLE)],
    )
    const changed = JSON.parse(
      await terse(
        'domain',
        'settings',
        HOST,
        '--clear',
        'robots',
        '--clear',
        'utm_medium',
        '--json',
      ),
    )
    assert.deepEqual(
      [changed.root_url, changed.robots, changed.rule_set, changed.utm.utm_source],
      ['https://example.com/', null, id, 'short'],
    )
    assert.equal(changed.utm.utm_medium, null)
    assert.deepEqual(changed.apple_app_site_association, APPLE)
    assert.match(await terse('domain', 'settings', HOST), /^root_url {2}https:\/\/example\.com\/$/m)
    assert.match(await refused('rule-sets', 'delete', 'Default', '--yes'), /go\.localhost|domain/)
    const wrong = fileOf('wrong.json', [{}])
    assert.match(await refused('domain', 'settings', HOST, '--assetlinks', wrong), /assetlinks/)
    assert.match(
      await refused('domain', 'settings', 'no.example'),
      /There is no domain no\.example/,
    )
  })
})
