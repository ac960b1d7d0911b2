import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Answer, type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'

const COUNT = 12

/** Follows a list’s `next` to its end, or `prev` to its beginning. */
async function follow(
  api: Api,
  from: string,
  direction: 'next' | 'prev' = 'next',
  between: () => Promise<unknown> = async () => {},
): Promise<Answer['body'][]> {
  const pages: Answer['body'][] = []
  let url: string | null = from
  while (url !== null) {
    assert.ok(pages.length < 200, 'the list does not end')
    const { body } = expectStatus(await api.get(url), 200)
    pages.push(body)
    url = body.links[direction] === null ? null : pathOf(body.links[direction])
    await between()
  }
  return pages
}

function pathOf(url: string): string {
  return url.slice(url.indexOf('/api/v1') + '/api/v1'.length)
}

/** The keys or host names on these pages, in order. */
function namesOn(pages: readonly Answer['body'][]): string[] {
  return pages.flatMap(({ data }) =>
    data.map((item: { key?: string; domain: string }) => item.key ?? item.domain),
  )
}

onSqlite('cursor pagination', (stage) => {
  const keys = Array.from({ length: COUNT }, (_, index) => `key-${index}`)
  const hosts = keys.map((key) => `${key}.example.com`)
  let api: Api
  before(async () => {
    api = await stage.service.api('walked')
    for (const [index, key] of keys.entries()) {
      await createLink(api, { key, tags: index % 2 === 0 ? ['even', 'all'] : ['all'] })
    }
    for (const domain of hosts) expectStatus(await api.post('/domains', { domain }), 201)
  })

  for (const { list, names } of [
    { list: '/links?', names: keys.toReversed() },
    { list: '/links?sort=created_at&', names: keys },
    { list: '/links?search=key-1&', names: ['key-11', 'key-10', 'key-1'] },
    {
      list: '/links?tag=all&tag=even&',
      names: keys.filter((_, index) => index % 2 === 0).toReversed(),
    },
    { list: '/domains?', names: hosts.toReversed() },
  ]) {
    test(`returns each item of ${list} once, in both directions`, async () => {
      for (const perPage of [1, 5, 100]) {
        const forward = await follow(api, `${list}per_page=${perPage}&cursor=`)
        assert.deepEqual(namesOn(forward), names)
        const { links, meta } = forward.at(-1)
        assert.equal(meta.next_cursor, null)
        assert.equal(meta.to, names.length)
        assert.equal(meta.total, names.length)
        const backward = await follow(api, pathOf(links.last), 'prev')
        assert.deepEqual(namesOn(backward.toReversed()), names)
        assert.equal(backward.at(-1).meta.from, 1)
        assert.deepEqual(
          namesOn([expectStatus(await api.get(pathOf(links.first)), 200).body]),
          names.slice(0, perPage),
        )
      }
    })
  }

  test('returns the envelope of every list, with the next cursor', async () => {
    const { body } = expectStatus(await api.get('/links?per_page=5&tag=all&cursor'), 200)
    const second = expectStatus(await api.get(pathOf(body.links.next)), 200).body
    const path = `http://localhost:${stage.service.port}/api/v1/links`
    const { links, meta, data } = second
    assert.equal(data.length, 5)
    assert.ok(links.next.startsWith(`${path}?per_page=5&tag=all&cursor=`))
    assert.ok(links.next.endsWith(meta.next_cursor))
    assert.equal(links.first, `${path}?per_page=5&tag=all&cursor=`)
    assert.deepEqual(meta, {
      current_page: 2,
      from: 6,
      to: 10,
      last_page: 3,
      per_page: 5,
      total: COUNT,
      path,
      links: [
        { url: links.prev, label: 'Previous', active: false },
        { url: body.links.next, label: '2', active: true },
        { url: links.next, label: 'Next', active: false },
      ],
      next_cursor: meta.next_cursor,
    })
    const previous = expectStatus(await api.get(pathOf(links.prev)), 200).body
    assert.deepEqual(previous.data, body.data)
  })

  test('returns one empty page for an empty list', async () => {
    const empty = await stage.service.api('walked-empty')
    for (const list of ['/links', '/domains']) {
      const [page, ...others] = await follow(empty, `${list}?cursor=`)
      assert.equal(others.length, 0)
      assert.deepEqual(page.data, [])
      const { from, to, total, current_page, last_page, next_cursor } = page.meta
      assert.deepEqual([from, to, total, next_cursor], [null, null, 0, null])
      assert.deepEqual([current_page, last_page], [1, 1])
    }
  })

  for (const { list, workspace, create } of [
    {
      list: '/links?',
      workspace: 'links',
      create: (api: Api, name: string) => createLink(api, { key: name, tags: ['all'] }),
    },
    {
      list: '/links?tag=all&',
      workspace: 'tagged-links',
      create: (api: Api, name: string) => createLink(api, { key: name, tags: ['all'] }),
    },
    {
      list: '/domains?',
      workspace: 'domains',
      create: async (api: Api, name: string) =>
        expectStatus(await api.post('/domains', { domain: `${name}.example.com` }), 201).body,
    },
  ]) {
    test(`neither repeats nor loses an item of ${list} during concurrent writes`, async () => {
      const writer = await stage.service.api(`written-${workspace}`)
      const [path] = list.split('?')
      const made: { id: string; name: string }[] = []
      const add = async (name: string) => {
        const item = await create(writer, name)
        made.push({ id: item.id, name: item.key ?? item.domain })
      }
      for (let index = 0; index < 40; index += 1) await add(`${workspace}-old-${index}`)
      const deleted = new Set<string>()
      const before = made.map(({ name }) => name)
      let round = 0
      /** Creates two items, and deletes and updates some before and after the current page. */
      const write = async () => {
        round += 1
        const victims = [made[round * 2], made[39 - round * 2]]
        const kept = made[round * 2 + 1]
        await Promise.all([
          add(`${workspace}-new-${round}-a`),
          add(`${workspace}-new-${round}-b`),
          kept && writer.patch(`${path}/${kept.id}`, {}),
          ...victims.map(async (victim) => {
            if (victim === undefined || deleted.has(victim.name)) return
            deleted.add(victim.name)
            await writer.delete(`${path}/${victim.id}`)
          }),
        ])
      }
      const walked = namesOn(await follow(writer, `${list}per_page=4&cursor=`, 'next', write))
      assert.ok(round > 5 && deleted.size > 5)
      assert.equal(new Set(walked).size, walked.length, 'no item is repeated')
      const lost = before.filter((name) => !deleted.has(name) && !walked.includes(name))
      assert.deepEqual(lost, [])
    })
  }

  test('returns 422 for a cursor that was not issued for this list', async () => {
    const { meta } = expectStatus(await api.get('/links?per_page=2&cursor='), 200).body
    const cursor: string = meta.next_cursor
    const altered = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`
    const other = await stage.service.api('walked-by-another')
    for (const [client, query] of [
      [api, 'cursor=x'],
      [api, 'cursor=%00'],
      [api, `cursor=${altered}`],
      [api, `cursor=${cursor}x`],
      [api, `cursor=${'A'.repeat(1_001)}`],
      [api, 'cursor=&cursor='],
      [api, `cursor=${cursor}&tag=even`],
      [api, `cursor=${cursor}&sort=created_at`],
      [other, `cursor=${cursor}`],
    ] as const) {
      expectInvalid(await client.get(`/links?${query}`), 'cursor')
    }
    expectInvalid(await api.get(`/domains?cursor=${cursor}`), 'cursor')
    expectInvalid(await api.get(`/links?cursor=${cursor}&page=2`), 'page')
    expectInvalid(await api.get('/links?cursor=&sort=clicks'), 'sort')
  })
})
