import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const URL_A = 'https://example.com/a'
const URL_B = 'https://example.com/b'

onEachEngine('GET /api/v1/events', (stage) => {
  let workspaces = 0

  /** A new workspace, with one client. */
  async function newWorkspace(): Promise<{ api: Api; name: string }> {
    workspaces += 1
    const name = `events-${workspaces}`
    return { api: await stage.service.api(name), name }
  }

  async function list(api: Api, query = '') {
    return expectStatus(await api.get(`/events?${query}`), 200).body
  }

  async function typesOf(api: Api, query = ''): Promise<string[]> {
    const { data } = await list(api, query)
    return data.map(({ type }: { type: string }) => type)
  }

  test('lists what a token did to a link, newest first, with the changed fields and the request', async () => {
    const { api } = await newWorkspace()
    const answer = await api.post('/links', { domain: 'localhost', key: 'logged', url: URL_A })
    const link = expectStatus(answer, 201).body
    await api.patch(`/links/${link.id}`, { url: URL_B, tags: ['x'] })
    await api.delete(`/links/${link.id}`)
    const { data } = await list(api, `subject=${link.id}`)
    const [deleted, updated, created] = data
    assert.deepEqual(
      data.map(({ type }: { type: string }) => type),
      ['link.deleted', 'link.updated', 'link.created'],
    )
    assert.deepEqual(Object.keys(created), [
      'sequence',
      'at',
      'workspace_id',
      'actor',
      'request_id',
      'type',
      'subject_id',
      'subject_name',
      'before',
      'after',
    ])
    assert.equal(created.at, link.created_at)
    assert.equal(created.workspace_id, link.workspace_id)
    assert.equal(created.request_id, answer.headers.get('x-request-id'))
    assert.equal(created.actor.kind, 'token')
    assert.equal(created.actor.name, 'test')
    assert.match(created.actor.id, UUID)
    assert.equal(created.before, null)
    assert.deepEqual(created.after, { domain: 'localhost', key: 'logged', url: URL_A, tags: [] })
    assert.deepEqual(updated.before, { url: URL_A, tags: [] })
    assert.deepEqual(updated.after, { url: URL_B, tags: ['x'] })
    assert.deepEqual(deleted.before, {
      domain: 'localhost',
      key: 'logged',
      url: URL_B,
      tags: ['x'],
    })
    assert.equal(deleted.after, null)
    assert.equal(updated.subject_name, 'localhost/logged', 'of a link that was deleted since')
  })

  test('names the link of a change as it is called now, and only within its workspace', async () => {
    const { api } = await newWorkspace()
    const fields = { domain: 'localhost', key: 'named', url: URL_A }
    const { id } = expectStatus(await api.post('/links', fields), 201).body
    expectStatus(await api.patch(`/links/${id}`, { url: URL_B }), 200)
    expectStatus(await api.patch(`/links/${id}`, { key: 'renamed' }), 200)
    const { data } = await list(api, 'type=link.updated')
    const names = data.map((event: { subject_name: string | null }) => event.subject_name)
    assert.deepEqual(names, ['localhost/renamed', 'localhost/renamed'])
    const others = await list(api, 'type=token.created')
    assert.equal(others.data[0].subject_name, null)
  })

  test('records that a password changed, but neither its text nor its hash', async () => {
    const { api } = await newWorkspace()
    const link = await createLink(api, { password: 'first secret' })
    await api.patch(`/links/${link.id}`, { password: 'second secret' })
    await api.patch(`/links/${link.id}`, { password: null })
    const { data } = await list(api, `subject=${link.id}`)
    for (const { after } of data) assert.equal(after.password, 'changed')
    assert.equal(data.length, 3)
    assert.doesNotMatch(JSON.stringify(data), /secret|argon|\$/)
    const sealed = String(link.password)
    assert.ok(!JSON.stringify(data).includes(sealed))
  })

  test('lists the changes of domains, and by the system that they were proved', async () => {
    const { api, name } = await newWorkspace()
    const host = `${name}.localhost`
    const domain = expectStatus(await api.post('/domains', { domain: host }), 201).body
    await api.patch(`/domains/${domain.id}`, { expired_url: URL_A })
    await api.put(`/domains/${domain.id}/https`, { hsts_max_age: 60 })
    await api.delete(`/domains/${domain.id}`)
    const { data } = await list(api, `subject=${domain.id}`)
    const told = data.map((event: Record<string, unknown>) => [
      event.type,
      event.before,
      event.after,
    ])
    assert.deepEqual(told, [
      ['domain.deleted', { domain: host, status: 'active', expired_url: URL_A }, null],
      ['domain.updated', { hsts_max_age: null }, { hsts_max_age: 60 }],
      ['domain.updated', { expired_url: null }, { expired_url: URL_A }],
      ['domain.verified', { domain: host, status: 'pending' }, { domain: host, status: 'active' }],
      ['domain.created', null, { domain: host, status: 'pending' }],
    ])
    const verified = data[3]
    assert.deepEqual(verified.actor, { kind: 'system', id: null, name: 'domain checks' })
    assert.equal(verified.request_id, null)
  })

  test('lists what the command line did to tokens and quotas', async () => {
    const { api, name } = await newWorkspace()
    const { tokens, workspaces } = stage.service.instance
    const actor = commandLine((await workspaces.get(name)).id)
    const options = { name: 'short', scopes: ['links:read'], expiresAt: null } as const
    const { token, secret } = await tokens.create(actor, options)
    await tokens.revokeAnywhere(commandLine, token.id)
    await workspaces.limit(actor, { links: 7 })
    const { data } = await list(api, 'per_page=3')
    const told = data.map((event: Record<string, unknown>) => [
      event.type,
      event.before,
      event.after,
    ])
    const fields = { name: 'short', scopes: ['links:read'] }
    assert.deepEqual(told, [
      ['workspace.updated', { links: null }, { links: 7 }],
      ['token.revoked', fields, null],
      ['token.created', null, fields],
    ])
    assert.deepEqual(data[0].actor, { kind: 'system', id: null, name: 'command line' })
    assert.ok(!JSON.stringify(data).includes(secret))
    assert.equal((await typesOf(api)).at(-1), 'workspace.created')
  })

  test('filters by types, actor and instants', async () => {
    const { api, name } = await newWorkspace()
    const other = await stage.service.api(name)
    const first = await createLink(api, {})
    await other.patch(`/links/${first.id}`, { url: URL_B })
    await api.delete(`/links/${first.id}`)
    const links = 'type=link.created&type=link.deleted'
    assert.deepEqual(await typesOf(api, links), ['link.deleted', 'link.created'])
    const { data } = await list(api, `type=link.updated`)
    const [updated] = data
    assert.deepEqual(await typesOf(api, `actor=${updated.actor.id}`), ['link.updated'])
    const from = encodeURIComponent(updated.at)
    assert.deepEqual(await typesOf(api, `from=${from}`), ['link.deleted', 'link.updated'])
    assert.deepEqual(await typesOf(api, `type=link.created&from=${from}`), [])
    const before = await typesOf(api, `to=${from}&type=link.created&type=link.updated`)
    assert.deepEqual(before, ['link.created'])
  })

  test('walks through all events, each once, while others are added', async () => {
    const { api } = await newWorkspace()
    for (let count = 0; count < 5; count += 1) await createLink(api, {})
    const all = await list(api, 'per_page=100')
    assert.equal(all.meta.next_cursor, null)
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await list(api, `per_page=2&cursor=${cursor}`)
      seen.push(...page.data.map(({ sequence }: { sequence: number }) => sequence))
      cursor = page.meta.next_cursor
      assert.equal(page.links.next === null, cursor === null)
      await createLink(api, {})
    }
    assert.deepEqual(
      seen,
      all.data.map(({ sequence }: { sequence: number }) => sequence),
    )
  })

  test('finds events of a type behind thousands of others', async () => {
    const { api, name } = await newWorkspace()
    const { store, workspaces } = stage.service.instance
    const actor = commandLine((await workspaces.get(name)).id)
    await createLink(api, {})
    await store.write(async ({ events }) => {
      const event = {
        type: 'link.updated',
        subjectId: actor.workspaceId,
        before: {},
        after: {},
      } as const
      const now = stage.service.instance.clock.nowMicros()
      for (let count = 0; count < 5_000; count += 1) await events.append(actor, event, now + count)
    })
    assert.deepEqual(await typesOf(api, 'type=link.created'), ['link.created'])
    const { data, meta } = await list(api, 'type=link.updated&per_page=100')
    assert.equal(data.length, 100)
    const next = await list(api, `type=link.updated&per_page=100&cursor=${meta.next_cursor}`)
    assert.equal(next.data[0].sequence, data[99].sequence - 1)
  })

  test('shows no event of another workspace, whatever is asked', async () => {
    const [mine, other] = [await newWorkspace(), await newWorkspace()]
    const link = await createLink(other.api, {})
    await createLink(mine.api, {})
    const [theirs] = (await list(other.api)).data
    for (const query of [
      '',
      `subject=${link.id}`,
      `actor=${theirs.actor.id}`,
      'type=link.created',
    ]) {
      const { data } = await list(mine.api, query)
      for (const event of data) assert.notEqual(event.workspace_id, link.workspace_id, query)
    }
    const { meta } = await list(other.api, 'per_page=1')
    expectInvalid(await mine.api.get(`/events?per_page=1&cursor=${meta.next_cursor}`), 'cursor')
  })

  test('logs nothing for a request that fails or is repeated', async () => {
    const { api } = await newWorkspace()
    const headers = { 'idempotency-key': 'once' }
    const body = { domain: 'localhost', key: `once-${workspaces}`, url: URL_A }
    await api.post('/links', body, headers)
    await api.post('/links', body, headers)
    expectStatus(await api.post('/links', body), 422)
    assert.deepEqual(await typesOf(api, 'type=link.created'), ['link.created'])
  })

  test('needs the scope workspace:admin', async () => {
    const scopes = SCOPES.filter((scope) => scope !== 'workspace:admin')
    const api = await stage.service.api('acme', scopes)
    expectProblem(await api.get('/events'), 'missing_scope')
  })

  test('answers 304 for what the client has', async () => {
    const { api } = await newWorkspace()
    const tag = (await api.get('/events')).headers.get('etag') ?? ''
    const again = await api.send('GET', '/events', { headers: { 'if-none-match': tag } })
    assert.equal(again.status, 304)
  })

  const wrong: [string, string][] = [
    ['type=link.viewed', 'type'],
    ['subject=nope', 'subject'],
    ['actor=1', 'actor'],
    ['from=yesterday', 'from'],
    ['to=2026-01-01', 'to'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
    ['cursor=abc', 'cursor'],
    ['per_page=0', 'per_page'],
  ]
  for (const [query, field] of wrong) {
    test(`refuses ${query}`, async () => {
      expectInvalid(await stage.api.get(`/events?${query}`), field)
    })
  }
})
