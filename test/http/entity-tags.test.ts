import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type Api, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createLink, showLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { jsonRequest, UNKNOWN_ID } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { visit } from '../support/visit.ts'

function tagOf(answer: Answer): string {
  const tag = answer.headers.get('etag') ?? ''
  assert.match(tag, /^"[\w.-]+"$/, 'a strong entity tag')
  return tag
}

async function readTag(api: Api, path: string): Promise<string> {
  return tagOf(expectStatus(await api.get(path), 200))
}

function write(
  api: Api,
  method: string,
  path: string,
  { tag, body }: { tag: string; body?: object },
): Promise<Answer> {
  const headers = { 'if-match': tag }
  const init = body === undefined ? { headers } : jsonRequest(JSON.stringify(body), headers)
  return api.send(method, path, init)
}

onSqlite('entity tags', (stage) => {
  /** A link and a domain of the workspace, with an edit of each. */
  async function createEach(name: string) {
    const { api } = stage
    const domain = `${name}.acme.test`
    const link = await createLink(api, { key: name })
    const made = expectStatus(await api.post('/domains', { domain }), 201).body
    return [
      {
        path: `/links/${link.id}`,
        put: { domain: 'localhost', url: 'https://example.com/put' },
        patch: { tags: ['edited'] },
      },
      {
        path: `/domains/${made.id}`,
        put: { domain, expired_url: 'https://example.com/put' },
        patch: { not_found_url: 'https://example.com/edited' },
      },
    ]
  }

  test('return 304 for unchanged resources and lists, and 200 after a change', async () => {
    const { api } = stage
    for (const { path, patch } of await createEach('revalidated')) {
      const collection = path.slice(0, path.lastIndexOf('/'))
      for (const read of [path, collection, `${collection}?per_page=1`]) {
        const tag = await readTag(api, read)
        for (const sent of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const answer = await api.send('GET', read, { headers: { 'if-none-match': sent } })
          assert.equal(expectStatus(answer, 304).body, '')
          if (sent !== '*') assert.equal(tagOf(answer), tag)
        }
        for (const sent of ['"other"', tag.slice(1, -1), '']) {
          const answer = await api.send('GET', read, { headers: { 'if-none-match': sent } })
          expectStatus(answer, 200)
        }
      }
      const [one, all] = [await readTag(api, path), await readTag(api, collection)]
      expectStatus(await api.patch(path, patch), 200)
      for (const [read, tag] of [
        [path, one],
        [collection, all],
      ] as const) {
        const answer = await api.send('GET', read, { headers: { 'if-none-match': tag } })
        assert.notEqual(tagOf(expectStatus(answer, 200)), tag)
      }
    }
  })

  test('differ between content codings, and each returns 304', async () => {
    const { api } = stage
    await createLink(api, { url: `https://example.com/${'x'.repeat(2_000)}` })
    const tags = new Set<string>()
    for (const coding of ['identity', 'gzip', 'br']) {
      const headers = { 'accept-encoding': coding }
      const tag = tagOf(expectStatus(await api.send('GET', '/links', { headers }), 200))
      tags.add(tag)
      const known = { ...headers, 'if-none-match': tag }
      const answer = expectStatus(await api.send('GET', '/links', { headers: known }), 304)
      assert.equal(tagOf(answer), tag)
    }
    assert.equal(tags.size, 3)
  })

  test('return 412 for writes with an outdated tag, and accept the current one', async () => {
    const { api } = stage
    for (const { path, put, patch } of await createEach('guarded')) {
      const first = await readTag(api, path)
      const changed = expectStatus(
        await write(api, 'PATCH', path, { tag: first, body: patch }),
        200,
      )
      const second = tagOf(changed)
      assert.equal(second, await readTag(api, path), 'the answer to a PATCH has the new tag')

      const before = expectStatus(await api.get(path), 200).body
      for (const tag of [first, `W/${second}`, '"other"', `${first}, "other"`]) {
        for (const [method, body] of [
          ['PUT', put],
          ['PATCH', patch],
          ['DELETE', undefined],
        ] as const) {
          const sent = body === undefined ? { tag } : { tag, body }
          expectProblem(await write(api, method, path, sent), 'precondition_failed')
        }
      }
      assert.deepEqual(expectStatus(await api.get(path), 200).body, before)

      const tag = `"other" , ${second}`
      const replaced = expectStatus(await write(api, 'PUT', path, { tag, body: put }), 200)
      // The stored link may differ from what was sent, so the answer to a PUT has no tag (RFC 9110, 9.3.4).
      assert.equal(replaced.headers.get('etag'), null)
      expectStatus(await write(api, 'PATCH', path, { tag: '*', body: patch }), 200)
      const last = await readTag(api, path)
      expectStatus(await write(api, 'DELETE', path, { tag: last }), 200)
      expectProblem(await write(api, 'DELETE', path, { tag: last }), 'not_found')
    }
  })

  test('let exactly one of several concurrent writers with the same tag succeed', async () => {
    const { api } = stage
    for (const { path, patch } of await createEach('raced')) {
      const tag = await readTag(api, path)
      const writers = Array.from({ length: 8 }, () =>
        write(api, 'PATCH', path, { tag, body: patch }),
      )
      const statuses = (await Promise.all(writers)).map(({ status }) => status)
      assert.deepEqual(statuses.sort(), [200, ...Array(7).fill(412)])
    }
  })

  test('change with a click, but the older tag is still accepted for an edit', async () => {
    const { api, service } = stage
    const created = await api.post('/links', { domain: 'localhost', url: 'https://example.com/' })
    const { id, key } = expectStatus(created, 201).body
    const path = `/links/${id}`
    const tag = await readTag(api, path)
    assert.equal(tagOf(created), tag)
    assert.equal((await visit(service.port, `/${key}`)).status, 302)
    await eventually(async () => assert.equal((await showLink(api, id)).clicks, 1))
    assert.notEqual(await readTag(api, path), tag)
    expectStatus(await write(api, 'PATCH', path, { tag, body: { tags: ['after a click'] } }), 200)
    expectProblem(await write(api, 'PATCH', path, { tag, body: {} }), 'precondition_failed')
  })

  test('of a link change when its domain is renamed', async () => {
    const { api } = stage
    const made = expectStatus(await api.post('/domains', { domain: 'before.acme.test' }), 201).body
    const link = await createLink(api, { domain: 'before.acme.test' })
    const tag = await readTag(api, `/links/${link.id}`)
    expectStatus(await api.patch(`/domains/${made.id}`, { domain: 'after.acme.test' }), 200)
    const body = { tags: ['x'] }
    const answer = await write(api, 'PATCH', `/links/${link.id}`, { tag, body })
    expectProblem(answer, 'precondition_failed')
  })

  test('protect the HSTS setting of a domain', async () => {
    const { api } = stage
    const made = expectStatus(await api.post('/domains', { domain: 'hsts.acme.test' }), 201).body
    const path = `/domains/${made.id}/https`
    const tag = await readTag(api, path)
    expectStatus(await write(api, 'PUT', path, { tag, body: { hsts_max_age: 300 } }), 200)
    const late = await write(api, 'PUT', path, { tag, body: { hsts_max_age: null } })
    expectProblem(late, 'precondition_failed')
    assert.equal((await api.get(path)).body.hsts_max_age, 300)
  })

  test('return 400 for a malformed tag, and 404 for an unknown resource', async () => {
    const { api } = stage
    const { id } = await createLink(api)
    for (const tag of ['abc', '"abc', 'W/abc', '"a" "b"', '*, "a"', '"a b"']) {
      expectProblem(await write(api, 'PATCH', `/links/${id}`, { tag, body: {} }), 'bad_request')
    }
    for (const path of [`/links/${UNKNOWN_ID}`, `/domains/${UNKNOWN_ID}`]) {
      expectProblem(await write(api, 'PATCH', path, { tag: '"x"', body: {} }), 'not_found')
    }
  })
})
