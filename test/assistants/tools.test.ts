import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { scan } from '../support/scan.ts'
import { type Service, startService } from '../support/service.ts'

const VERSIONS = [
  ['of 2025', {}],
  ['of 2026', { versionNegotiation: { mode: 'auto' } }],
] as const

describe('tools of assistants', () => {
  let service: Service
  let api: Api
  let mcp: Client
  before(async () => {
    service = await startService(SQLITE)
    const token = await service.token('acme')
    api = apiClient(service.baseUrl, token)
    mcp = await connect(token)
  })
  after(async () => {
    await mcp.close()
    await service.stop()
  })

  async function connect(token: string, options: object = {}): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' }, options)
    const url = new URL(`${service.baseUrl}/mcp`)
    const authorization = `Bearer ${token}`
    await client.connect(
      new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }),
    )
    return client
  }
  const call = async (name: string, input: object, client = mcp) => {
    const result = await client.callTool({ name, arguments: { ...input } })
    const [first] = result.content
    assert.ok(first?.type === 'text', JSON.stringify(result))
    return { isError: result.isError === true, text: first.text }
  }
  const read = async (name: string, input: object) => {
    const { isError, text } = await call(name, input)
    assert.equal(isError, false, text)
    return JSON.parse(text)
  }
  const create = (key: string, fields: object = {}) =>
    read('create_link', { url: 'https://example.com/', domain: 'localhost', key, ...fields })

  for (const [version, options] of VERSIONS) {
    test(`are listed and called in the protocol ${version}`, async () => {
      const client = await connect(await service.token('acme'), options)
      const { tools } = await client.listTools()
      assert.equal(tools.length, 12)
      const { isError } = await call('find_links', {}, client)
      assert.equal(isError, false)
      await client.close()
    })
  }

  test('say what they change, and which of them deletes', async () => {
    const { tools } = await mcp.listTools()
    const withHint = (hint: 'readOnlyHint' | 'destructiveHint') =>
      tools.filter(({ annotations }) => annotations?.[hint]).map(({ name }) => name)
    assert.deepEqual(withHint('destructiveHint'), ['update_link', 'set_rules', 'delete_link'])
    assert.deepEqual(
      tools.map(({ name }) => name).filter((name) => !withHint('readOnlyHint').includes(name)),
      ['create_link', 'update_link', 'set_rules', 'delete_link'],
    )
    for (const { description } of tools) assert.ok((description ?? '').length > 30)
  })

  test('are those that the scopes of the token allow', async () => {
    const client = await connect(await service.token('acme', ['links:read']))
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['find_links', 'get_link', 'explain_visit', 'get_qr_code'],
    )
    const { isError } = await call('create_link', { url: 'https://a.example/' }, client).catch(
      () => ({ isError: true }),
    )
    assert.equal(isError, true)
    await client.close()
  })

  test('make, find, show, change and delete a link, named by its address', async () => {
    const made = await create('spring', { tags: ['spring'], notes: 'for the fair', password: 'x' })
    assert.deepEqual([made.password, made.has_password], [undefined, true])
    assert.equal(made.link, 'https://localhost/spring')
    const { total, links } = await read('find_links', { search: 'spring' })
    assert.deepEqual([total, links[0].id], [1, made.id])
    const shown = await read('get_link', { link: 'localhost/spring' })
    assert.equal(shown.options.notes, 'for the fair')
    assert.deepEqual(shown.rules, [])
    const changed = await read('update_link', {
      link: 'https://localhost/spring',
      url: 'https://example.com/sale',
    })
    assert.equal(changed.url, 'https://example.com/sale')
    assert.deepEqual(changed.tags, ['spring'])
    assert.deepEqual(await read('delete_link', { link: made.id }), { deleted: made.link })
    expectStatus(await api.get(`/links/${made.id}`), 404)
  })

  test('set rules, and explain where a visitor goes by them', async () => {
    const { id } = await create('rules')
    const rules = [
      { name: 'Germany', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } },
    ]
    await read('set_rules', { link: id, rules })
    const { location, decided_by } = await read('explain_visit', { link: id, country: 'DE' })
    assert.equal(location, 'https://example.com/de')
    assert.equal(decided_by.name, 'Germany')
    const other = await read('explain_visit', { link: id })
    assert.equal(other.location, 'https://example.com/')
  })

  test('use the default domain of the workspace for a link without one', async () => {
    const { text } = await call('create_link', { url: 'https://example.com/' })
    assert.match(text, /list_domains/)
    expectStatus(await api.post('/domains', { domain: 'go.localhost' }), 201)
    expectStatus(await api.put('/default-domain', { domain: 'go.localhost' }), 200)
    const { domain } = await read('create_link', { url: 'https://example.com/' })
    assert.equal(domain, 'go.localhost')
  })

  test('count clicks and conversions', async () => {
    const { link } = await create('counted')
    const clicks = await read('get_clicks', { link, group_by: 'country' })
    assert.equal(clicks.total.clicks, 0)
    assert.deepEqual(clicks.group_by, 'country')
    const conversions = await read('get_conversions', {})
    assert.equal(conversions.total.conversions, 0)
  })

  test('draw a QR code as a picture', async () => {
    const { link } = await create('drawn')
    const { content } = await mcp.callTool({ name: 'get_qr_code', arguments: { link } })
    const [picture] = content
    assert.ok(picture?.type === 'image')
    assert.equal(picture.mimeType, 'image/png')
    assert.match(scan(Buffer.from(picture.data, 'base64')).text, /\/drawn$/)
  })

  test('list domains and say what one of them lacks', async () => {
    expectStatus(await api.post('/domains', { domain: 'go.example.com' }), 201)
    const { domains } = await read('list_domains', {})
    assert.ok(domains.some(({ domain }: { domain: string }) => domain === 'go.example.com'))
    const found = await read('diagnose_domain', { domain: 'go.example.com' })
    assert.equal(found.status, 'pending')
    assert.ok(found.dns.records.length > 0)
    const unknown = await call('diagnose_domain', { domain: 'other.example.com' })
    assert.deepEqual(unknown.isError, true)
  })

  test('tell the model what is wrong with what it sent', async () => {
    const { isError, text } = await call('create_link', { url: 'nowhere', domain: 'localhost' })
    assert.equal(isError, true)
    assert.match(text, /^url [^\n]+$/)
    const unknown = await call('get_link', { link: 'localhost/unknown' })
    assert.match(unknown.text, /There is no link/)
    const unreadable = await call('get_link', { link: 'spring' })
    assert.match(unreadable.text, /neither/)
  })

  test('are called in no name by a header from outside', async () => {
    const headers = { 'terse-internal-call': '00000000-0000-4000-8000-000000000000' }
    const response = await fetch(`${service.baseUrl}/api/v1/links`, { headers })
    assert.equal(response.status, 401)
  })

  test('show nothing of other workspaces', async () => {
    const { id } = await create('ours')
    const other = await connect(await service.token('globex'))
    for (const link of [id, 'localhost/ours']) {
      const { isError } = await call('get_link', { link }, other)
      assert.equal(isError, true)
    }
    const { text } = await call('find_links', { search: 'ours' }, other)
    assert.equal(JSON.parse(text).total, 0)
    await other.close()
  })

  test('cut long destinations in lists, and refuse an answer that is too long', async () => {
    const url = `https://example.com/${'a'.repeat(8_000)}`
    const { id } = await create('long', { url })
    const { links } = await read('find_links', { search: 'localhost/long' })
    assert.equal(links[0].url.length, 301)
    const rules = Array.from({ length: 7 }, () => ({ then: { url } }))
    await call('set_rules', { link: id, rules })
    const { isError, text } = await call('get_link', { link: id })
    assert.deepEqual([isError, /too long/.test(text)], [true, true])
  })
})
