import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { NO_OVERRIDES } from '../../src/identity/quotas/quota.ts'
import { type Answer, type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { variantOf } from '../support/key-variants.ts'
import { createLink, type LinkBody, listedKeys, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { UNKNOWN_ID } from '../support/operations.ts'
import { assertFaults } from '../support/problems.ts'
import { visit } from '../support/visit.ts'

const URL = 'https://example.com/'

onEachEngine('POST /api/v1/links/bulk', (stage) => {
  const bulk = async (
    body: unknown,
    { api = stage.api, key }: { api?: Api; key?: string } = {},
  ): Promise<Answer['body']> => {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    return expectStatus(await api.post('/links/bulk', body, headers), 200).body
  }
  const counts = ({ done, succeeded, failed, pending }: Answer['body']) => ({
    done,
    succeeded,
    failed,
    pending,
  })

  test('creates and updates links with their rules, each at once', async () => {
    const api = await stage.service.api('ruled')
    const rules = [{ when: { country: ['DE'] }, then: { url: `${URL}de` } }]
    const link = { domain: 'localhost', key: 'bulk-ruled', url: URL, rules }
    const wrong = { ...link, key: 'bulk-misruled', rules: [{ then: { url: 'nowhere' } }] }
    const { results } = await bulk({ action: 'create', links: [link, wrong] }, { api })
    assert.deepEqual(Object.keys(results[1].error.errors), ['rules.0.then.url'])
    const [{ id }] = results
    const rulesNow = async () => (await api.get(`/links/${id}/rules`)).body.rules
    assert.equal((await rulesNow())[0].then.url, `${URL}de`)
    const kept = await bulk({ action: 'update', links: [{ id, url: `${URL}new` }] }, { api })
    assert.equal(kept.succeeded, 1)
    assert.equal((await rulesNow()).length, 1)
    const { results: cleared } = await bulk(
      { action: 'update', links: [{ id, rules: null }] },
      { api },
    )
    assert.equal(cleared[0].before.rules.length, 1)
    assert.deepEqual(await rulesNow(), [])
  })

  test('creates the valid links and returns why each other one failed', async () => {
    const api = await stage.service.api('creates')
    await createLink(api, { key: 'bulk-taken' })
    const links = [
      { domain: 'localhost', key: 'bulk-a', url: URL, tags: ['x'], password: 'sesame' },
      { domain: 'localhost', key: 'bulk-taken', url: URL },
      { domain: 'localhost', url: 'nowhere', kee: 1 },
      'no link',
      { domain: 'localhost', key: 'bulk-a', url: URL },
      { domain: 'localhost', key: 'api', url: URL },
      { domain: 'bulk.localhost', url: URL },
      { domain: 'co.uk', key: 'bulk-b', url: URL },
    ]
    const answer = await bulk({ action: 'create', links }, { api })
    assert.deepEqual(counts(answer), { done: true, succeeded: 2, failed: 6, pending: 0 })
    const [first, taken, invalid, text, twice, reserved, onNewDomain, refused] = answer.results
    assert.deepEqual(first, {
      index: 0,
      status: 'succeeded',
      id: first.id,
      link: 'https://localhost/bulk-a',
      before: null,
      error: null,
    })
    assert.deepEqual(taken, {
      index: 1,
      status: 'failed',
      id: null,
      link: null,
      before: null,
      error: {
        code: 'validation_failed',
        message: 'key is taken on this domain',
        errors: { key: ['is taken on this domain'] },
        faults: { key: [{ code: 'taken', reason: 'link', message: 'is taken on this domain' }] },
      },
    })
    assert.deepEqual(Object.keys(invalid.error.errors), ['kee', 'url'])
    assert.deepEqual(Object.keys(text.error.errors), ['body'])
    assert.deepEqual(twice.error.errors, { key: ['is taken on this domain'] })
    assert.deepEqual(Object.keys(reserved.error.errors), ['key'])
    assert.match(onNewDomain.link, /^https:\/\/bulk\.localhost\/[2-9a-z]{7}$/)
    assert.deepEqual(Object.keys(refused.error.errors), ['domain'])
    for (const { error } of answer.results) if (error !== null) assertFaults(error)
    assert.deepEqual((await showLink(api, first.id)).tags, ['x'])
    assert.equal((await visit(stage.service.port, '/bulk-a')).status, 200, 'asks for the password')
    assert.equal(expectStatus(await api.get('/domains'), 200).body.meta.total, 1)
  })

  test('changes the same fields of many links, in several transactions', async () => {
    const api = await stage.service.api('updates')
    const links = Array.from({ length: 60 }, (_, index) => ({
      domain: 'localhost',
      key: `many-${index}`,
      url: URL,
      tags: ['old', 'kept'],
    }))
    const created = await bulk({ action: 'create', links }, { api })
    assert.deepEqual(counts(created), { done: true, succeeded: 60, failed: 0, pending: 0 })
    const ids: string[] = created.results.map(({ id }: { id: string }) => id)
    await visit(stage.service.port, '/many-0')

    const changes = {
      add_tags: ['new'],
      remove_tags: ['old'],
      expires_at: '2020-01-01T00:00:00Z',
      domain: 'moved.localhost',
    }
    const changed = await bulk({ action: 'update', ids: [...ids, UNKNOWN_ID], changes }, { api })
    assert.deepEqual(counts(changed), { done: true, succeeded: 60, failed: 1, pending: 0 })
    assert.deepEqual(changed.results.at(-1), {
      index: 60,
      status: 'failed',
      id: UNKNOWN_ID,
      link: null,
      before: null,
      error: { code: 'not_found', message: 'Link not found.' },
    })
    assert.deepEqual(changed.results[0].before, {
      domain: 'localhost',
      tags: ['old', 'kept'],
      expires_at: null,
    })
    const last = await showLink(api, ids[59] ?? '')
    assert.deepEqual(
      [last.tags, last.expires_at, last.link],
      [['kept', 'new'], '2020-01-01T00:00:00.000000Z', 'https://moved.localhost/many-59'],
    )
    assert.equal((await visit(stage.service.port, '/many-0')).status, 404)

    const events = expectStatus(
      await (await stage.service.api('updates', ['workspace:admin'])).get(
        `/events?subject=${ids[0]}`,
      ),
      200,
    ).body.data
    assert.deepEqual(
      events.map(({ type }: { type: string }) => type),
      ['link.updated', 'link.created'],
    )

    const deleted = await bulk({ action: 'delete', ids: [...ids, ids[0]] }, { api })
    assert.deepEqual(counts(deleted), { done: true, succeeded: 60, failed: 1, pending: 0 })
    assert.deepEqual(await listedKeys(api, ''), [])
  })

  test('changes each link as it says, and refuses a key that is taken without failing others', async () => {
    const api = await stage.service.api('each')
    const made: LinkBody[] = []
    for (const key of ['each-1', 'each-2', 'each-3']) made.push(await createLink(api, { key }))
    const [one, two, three] = made
    const answer = await bulk(
      {
        action: 'update',
        links: [
          { id: one.id, key: 'each-2' },
          { id: two.id, key: 'Each-2', url: 'https://example.org/' },
          { id: three.id, key: null, add_tags: ['x'], password: 'secret' },
          { key: 'each-4' },
        ],
      },
      { api },
    )
    assert.deepEqual(
      answer.results.map(({ status }: { status: string }) => status),
      ['failed', 'succeeded', 'succeeded', 'failed'],
    )
    assert.deepEqual(answer.results[0].error.errors, { key: ['is taken on this domain'] })
    assert.deepEqual(answer.results[2].before, { key: 'each-3', tags: [] })
    assert.equal((await showLink(api, one.id)).key, 'each-1')
    assert.equal((await showLink(api, two.id)).key, 'Each-2')
    assert.match((await showLink(api, three.id)).key, /^[2-9a-z]{7}$/)
    assert.deepEqual(Object.keys(answer.results[3].error.errors), ['id'])
  })

  test('returns the same results for the same Idempotency-Key, and continues with missing items', async () => {
    const api = await stage.service.api('repeats')
    const links = Array.from({ length: 30 }, (_, index) => ({
      domain: 'localhost',
      key: `repeated-${index}`,
      url: URL,
    }))
    const first = await bulk({ action: 'create', links }, { api, key: 'again' })
    assert.equal(first.succeeded, 30)
    expectStatus(await api.delete(`/links/${first.results[29].id}`), 200)
    assert.deepEqual(await bulk({ action: 'create', links }, { api, key: 'again' }), first)
    assert.equal((await listedKeys(api, '?per_page=100')).length, 29, 'creates none again')
    const other = { action: 'create', links: links.slice(1) }
    const conflict = await api.post('/links/bulk', other, { 'idempotency-key': 'again' })
    assert.equal(conflict.status, 409)
  })

  test('leaves nothing of an item that fails after it began to write', async () => {
    const api = await stage.service.api('quota')
    const { workspaces } = stage.service.instance
    const { id } = await workspaces.ensure(commandLine, 'quota')
    const quotas = { ...NO_OVERRIDES, pending_domains: 1 }
    await stage.service.instance.store.write((stores) => stores.quotas.set(id, quotas))
    const links = ['one', 'two', 'three'].map((name) => ({
      domain: `${name}.bulk.test`,
      key: name,
      url: URL,
    }))
    const answer = await bulk({ action: 'create', links }, { api })
    assert.deepEqual(
      answer.results.map(({ status }: { status: string }) => status),
      ['succeeded', 'failed', 'failed'],
    )
    assert.match(answer.results[2].error.message, /quota of 1 pending domains/)
    assert.deepEqual(await listedKeys(api, ''), ['one'])
    assert.equal(expectStatus(await api.get('/domains'), 200).body.meta.total, 1)
  })

  test('refuses the 17th variant of a key', async () => {
    const api = await stage.service.api('variants')
    const links = Array.from({ length: 17 }, (_, number) => ({
      domain: 'localhost',
      key: variantOf('bulky', number),
      url: URL,
    }))
    const answer = await bulk({ action: 'create', links }, { api })
    assert.deepEqual(counts(answer), { done: true, succeeded: 16, failed: 1, pending: 0 })
    const [first] = answer.results
    const renamed = { id: first.id, key: variantOf('bulky', 16) }
    assert.equal((await bulk({ action: 'update', links: [renamed] }, { api })).succeeded, 1)
  })

  test('changes nothing of another workspace', async () => {
    const theirs = await createLink(await stage.service.api('theirs'), { key: 'theirs-bulk' })
    const api = await stage.service.api('mine')
    for (const body of [
      { action: 'delete', ids: [theirs.id, UNKNOWN_ID] },
      { action: 'update', ids: [theirs.id, UNKNOWN_ID], changes: { url: URL } },
    ]) {
      const { results } = await bulk(body, { api })
      assert.deepEqual(results[0].error, results[1].error)
      assert.equal(results[0].error.code, 'not_found')
    }
  })

  for (const [body, ...fields] of [
    [{ action: 'create' }, 'links'],
    [{ action: 'create', links: [] }, 'links'],
    [{ action: 'create', links: Array(1001).fill({}) }, 'links'],
    [{ action: 'create', links: [{}], ids: ['x'] }, 'ids'],
    [{ action: 'delete', links: [{}] }, 'ids', 'links'],
    [{ action: 'update', ids: ['x'] }, 'changes'],
    [{ action: 'update', ids: ['x'], changes: { url: 'nowhere' } }, 'changes.url'],
    [{ action: 'update', ids: ['x'], changes: { key: 'same' } }, 'changes.key'],
    [{ action: 'copy', ids: ['x'] }, 'action'],
    [{ action: 'delete', ids: [1] }, 'ids.0'],
  ] as const) {
    test(`returns 422 on ${fields.join(', ')} for ${JSON.stringify(body).slice(0, 60)}`, async () => {
      expectInvalid(await stage.api.post('/links/bulk', body), ...fields)
    })
  }

  test('takes a thousand items, and more than other requests may hold', async () => {
    const ids = Array.from({ length: 1_000 }, () => UNKNOWN_ID)
    const { succeeded, failed, pending, results } = await bulk({ action: 'delete', ids })
    assert.equal(results.length, 1_000)
    // A busy machine does not get through all of them in the time of one request.
    assert.deepEqual([succeeded, failed + pending], [0, 1_000])
    assert.ok(failed > 0)
    const links = Array.from({ length: 20 }, (_, index) => ({
      domain: 'localhost',
      key: `large-${index}`,
      url: `${URL}?${'x'.repeat(8_000)}`,
    }))
    assert.equal((await bulk({ action: 'create', links })).succeeded, 20)
  })
})
