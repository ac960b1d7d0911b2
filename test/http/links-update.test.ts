import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer, Api } from '../support/api.ts'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import {
  createLink,
  LINK_FIELDS,
  type LinkBody,
  OPTIONAL_FIELDS,
  showLink,
} from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

const CHANGED: Readonly<Record<keyof typeof OPTIONAL_FIELDS, unknown>> = {
  ios: 'https://changed.example.com/ios',
  android: 'https://changed.example.com/android',
  utm_source: 'changed source',
  utm_medium: 'changed medium',
  utm_campaign: 'changed campaign',
  utm_term: 'changed term',
  utm_content: 'changed content',
  utm_name: 'changed name',
  external_id: 43,
  expires_at: '2031-01-01T00:00:00.000000Z',
  expired_redirect_url: 'https://changed.example.com/over',
  tags: ['Étude', 'changed'],
}

const NOTHING = Object.fromEntries(
  Object.keys(OPTIONAL_FIELDS).map((field) => [field, field === 'tags' ? [] : null]),
)
const NULLS = Object.fromEntries(Object.keys(OPTIONAL_FIELDS).map((field) => [field, null]))

/** Asserts that what the update returns is also what is stored. */
async function expectUpdated(api: Api, answer: Answer): Promise<LinkBody> {
  const { body } = expectStatus(answer, 200)
  assert.deepEqual(await showLink(api, body.id), body)
  return body
}

/** A link with every field set. */
function createFullLink(api: Api): Promise<LinkBody> {
  return createLink(api, { ...OPTIONAL_FIELDS, password: 'open sesame' })
}

onEachEngine('PUT and PATCH /api/v1/links/{id}', (stage) => {
  const required = { domain: 'localhost', url: 'https://example.com/put' }

  test('return every field of the specification, clicks as an integer', async () => {
    const { id } = await createLink(stage.api)
    for (const method of ['put', 'patch'] as const) {
      const link = await expectUpdated(stage.api, await stage.api[method](`/links/${id}`, required))
      assert.deepEqual(Object.keys(link), [...LINK_FIELDS])
      assert.equal(link.clicks, 0)
    }
  })

  test('PUT requires domain and url', async () => {
    const { id } = await createLink(stage.api)
    expectInvalid(await stage.api.put(`/links/${id}`, { url: required.url }), 'domain')
    expectInvalid(await stage.api.put(`/links/${id}`, { domain: 'localhost' }), 'url')
    expectInvalid(await stage.api.put(`/links/${id}`, { key: 'k' }), 'domain', 'url')
  })

  test('PUT changes domain, url and key', async () => {
    const { id } = await createLink(stage.api, { key: 'before' })
    const answer = await stage.api.put(`/links/${id}`, { ...required, key: 'after' })
    const link = await expectUpdated(stage.api, answer)
    assert.equal(link.url, required.url)
    assert.equal(link.key, 'after')
    assert.equal(link.link, 'https://localhost/after')
    assert.equal((await visit(stage.service.port, '/before')).status, 404)
    assert.equal((await visit(stage.service.port, '/after')).headers.location, required.url)
  })

  test('PUT keeps omitted fields', async () => {
    const before = await createFullLink(stage.api)
    const after = await expectUpdated(
      stage.api,
      await stage.api.put(`/links/${before.id}`, required),
    )
    const { updated_at, ...kept } = after
    assert.deepEqual(kept, {
      ...Object.fromEntries(Object.entries(before).filter(([field]) => field !== 'updated_at')),
      url: required.url,
      clicks: 0,
    })
    assert.ok(updated_at > before.updated_at)
  })

  test('PUT and PATCH clear null fields', async () => {
    for (const method of ['put', 'patch'] as const) {
      const before = await createFullLink(stage.api)
      const body = { ...NULLS, password: null, ...(method === 'put' && required) }
      const after = await expectUpdated(
        stage.api,
        await stage.api[method](`/links/${before.id}`, body),
      )
      for (const [field, value] of Object.entries(NOTHING)) {
        assert.deepEqual(after[field], value, `${method} ${field}`)
      }
      assert.equal(after.password, null)
      assert.equal(after.key, before.key)
    }
  })

  test('PATCH changes one field, whichever it is, and keeps the others', async () => {
    const { id } = await createFullLink(stage.api)
    const changes = { ...CHANGED, url: 'https://changed.example.com/', key: 'changed-key' }
    for (const [field, value] of Object.entries(changes)) {
      const before = await showLink(stage.api, id)
      const answer = await stage.api.patch(`/links/${id}`, { [field]: value })
      const after = await expectUpdated(stage.api, answer)
      const expected = { ...before, [field]: value, updated_at: after.updated_at }
      if (field === 'key') expected.link = 'https://localhost/changed-key'
      assert.deepEqual(after, expected, field)
    }
  })

  test('PATCH with an empty body changes only updated_at', async () => {
    const before = await createFullLink(stage.api)
    const after = await expectUpdated(stage.api, await stage.api.patch(`/links/${before.id}`, {}))
    assert.deepEqual({ ...after, updated_at: '' }, { ...before, clicks: 0, updated_at: '' })
    assert.ok(after.updated_at > before.updated_at)
  })

  test('generate a new key for a null key', async () => {
    const { api, service } = stage
    for (const method of ['put', 'patch'] as const) {
      const before = await createLink(api, { key: `renewed-${method}` })
      const answer = await api[method](`/links/${before.id}`, { ...required, key: null })
      const { key } = await expectUpdated(api, answer)
      assert.match(key, /^[2-9a-hjkmnp-z]{7}$/)
      assert.equal((await visit(service.port, `/${key}`)).headers.location, required.url)
      assert.equal((await visit(service.port, `/${before.key}`)).status, 404)
    }
  })

  test('return 422 for null in required fields', async () => {
    const { id } = await createLink(stage.api)
    for (const field of ['domain', 'url']) {
      expectInvalid(await stage.api.patch(`/links/${id}`, { [field]: null }), field)
    }
  })

  test('return 422 for unknown fields by name, and change nothing', async () => {
    const before = await createLink(stage.api)
    const body = { ...required, uri: 'https://example.com/typo' }
    expectInvalid(await stage.api.put(`/links/${before.id}`, body), 'uri')
    expectInvalid(await stage.api.patch(`/links/${before.id}`, body), 'uri')
    assert.deepEqual(await showLink(stage.api, before.id), { ...before, clicks: 0 })
  })

  test('report every wrong field, and change nothing when one is wrong', async () => {
    const before = await createLink(stage.api)
    const body = { url: 'ftp://example.com/', key: '..', utm_source: 'fine', tags: ['fine'] }
    expectInvalid(await stage.api.patch(`/links/${before.id}`, body), 'url', 'key')
    assert.deepEqual(await showLink(stage.api, before.id), { ...before, clicks: 0 })
  })

  test('accept a returned link with one field changed', async () => {
    const { id } = await createFullLink(stage.api)
    const shown = await showLink(stage.api, id)
    const sent = { ...shown, utm_source: 'changed' }
    const after = await expectUpdated(stage.api, await stage.api.put(`/links/${id}`, sent))
    assert.deepEqual(after, { ...sent, updated_at: after.updated_at })
    assert.ok(after.updated_at > shown.updated_at)
  })

  test('accept and ignore read-only fields, whatever their values', async () => {
    const before = await createLink(stage.api)
    const readOnly = {
      id: '00000000-0000-7000-8000-000000000000',
      workspace_id: 5,
      link: 'https://elsewhere.example.com/',
      clicks: 1_000,
      last_click: 'yesterday',
      created_at: '1999-01-01T00:00:00Z',
      updated_at: null,
    }
    const sent = { ...before, ...readOnly }
    for (const method of ['put', 'patch'] as const) {
      const answer = await stage.api[method](`/links/${before.id}`, sent)
      const after = await expectUpdated(stage.api, answer)
      assert.deepEqual(after, { ...before, clicks: 0, updated_at: after.updated_at })
    }
  })

  test('updated_at increases strictly with every update, however fast they follow', async () => {
    const { id, created_at, updated_at } = await createLink(stage.api)
    const times = [updated_at]
    for (let count = 0; count < 5; count += 1) {
      times.push(expectStatus(await stage.api.patch(`/links/${id}`, {}), 200).body.updated_at)
    }
    const together = await Promise.all(
      Array.from({ length: 5 }, () => stage.api.patch(`/links/${id}`, {})),
    )
    times.push(...together.map((answer) => expectStatus(answer, 200).body.updated_at).sort())
    for (const [index, time] of times.slice(1).entries()) assert.ok(time > (times[index] ?? ''))
    assert.equal((await showLink(stage.api, id)).created_at, created_at)
  })

  test('concurrent updates of different fields lose none', async () => {
    const { id } = await createLink(stage.api)
    const answers = await Promise.all(
      Object.entries(CHANGED).map(([field, value]) =>
        stage.api.patch(`/links/${id}`, { [field]: value }),
      ),
    )
    for (const answer of answers) expectStatus(answer, 200)
    const link = await showLink(stage.api, id)
    for (const [field, value] of Object.entries(CHANGED)) {
      assert.deepEqual(link[field], value, field)
    }
  })

  test('return 422 for the key of another link, and accept the link’s own', async () => {
    await createLink(stage.api, { key: 'theirs' })
    const { id } = await createLink(stage.api, { key: 'mine' })
    expectInvalid(await stage.api.put(`/links/${id}`, { ...required, key: 'theirs' }), 'key')
    expectInvalid(await stage.api.patch(`/links/${id}`, { key: 'theirs' }), 'key')
    expectStatus(await stage.api.put(`/links/${id}`, { ...required, key: 'mine' }), 200)
    expectStatus(await stage.api.patch(`/links/${id}`, { key: 'Mine' }), 200)
  })

  test('the filters find a link by its new tags and no longer by its old ones', async () => {
    const { id } = await createLink(stage.api, { tags: ['old'] })
    expectStatus(await stage.api.patch(`/links/${id}`, { tags: ['new'] }), 200)
    assert.equal((await stage.api.get('/links?tag=old')).body.meta.total, 0)
    assert.equal((await stage.api.get('/links?tag=new')).body.meta.total, 1)
  })
})

onEachEngine('moving a link to another domain', (stage) => {
  test('serves the link there and no longer at the old host', async () => {
    const { service, api } = stage
    const before = await createLink(api, { domain: 'old.localhost', key: 'moving' })
    const answer = await api.put(`/links/${before.id}`, {
      domain: 'new.localhost',
      url: before.url,
    })
    const after = await expectUpdated(api, answer)
    assert.equal(after.domain, 'new.localhost')
    assert.equal(after.key, 'moving')
    assert.equal(after.link, 'https://new.localhost/moving')
    assert.equal((await visit(service.port, '/moving', { host: 'old.localhost' })).status, 404)
    assert.equal((await visit(service.port, '/moving', { host: 'new.localhost' })).status, 302)
  })

  test('to the service’s own host and away from it works by PATCH too', async () => {
    const { api } = stage
    const { id } = await createLink(api, { domain: 'away.localhost', key: 'commuter' })
    for (const domain of ['localhost', 'away.localhost', 'LOCALHOST']) {
      const link = await expectUpdated(api, await api.patch(`/links/${id}`, { domain }))
      assert.equal(link.domain, domain.toLowerCase())
    }
  })

  test('returns 422 on `key` when the key is taken there', async () => {
    const { api } = stage
    await createLink(api, { domain: 'one.localhost', key: 'both' })
    const { id } = await createLink(api, { domain: 'two.localhost', key: 'both' })
    expectInvalid(await api.patch(`/links/${id}`, { domain: 'one.localhost' }), 'key')
    assert.equal((await showLink(api, id)).domain, 'two.localhost')
  })

  test('returns 422 on `key` when the service itself answers that key', async () => {
    const { api } = stage
    const { id } = await createLink(api, { domain: 'free.localhost', key: 'docs' })
    expectInvalid(await api.patch(`/links/${id}`, { domain: 'localhost' }), 'key')
    expectStatus(await api.patch(`/links/${id}`, { domain: 'localhost', key: 'docs2' }), 200)
  })

  test('returns 422 on `domain` for an invalid host name', async () => {
    const { id } = await createLink(stage.api)
    expectInvalid(await stage.api.patch(`/links/${id}`, { domain: 'no host' }), 'domain')
  })
})

onEachEngine('a link whose domain was deleted', (stage) => {
  test('stays on its host through an update, without a new claim', async () => {
    const { api } = stage
    const { id } = await createLink(api, { domain: 'left.localhost', key: 'staying' })
    const domains = expectStatus(await api.get('/domains'), 200).body.data
    expectStatus(await api.delete(`/domains/${domains[0].id}`), 200)

    const shown = await showLink(api, id)
    assert.equal(shown.domain, 'left.localhost')
    const answer = await api.put(`/links/${id}`, { ...shown, utm_source: 'changed' })
    assert.equal((await expectUpdated(api, answer)).domain, 'left.localhost')
    assert.deepEqual(expectStatus(await api.get('/domains'), 200).body.data, [])
  })
})
