import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { OPERATION_ACCESS } from '../../src/identity/permissions.ts'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { type PersonClient, setUp } from '../support/person-client.ts'

const LINKS = ['first', 'last', 'prev', 'next']
const META = ['current_page', 'from', 'to', 'last_page', 'per_page', 'total', 'path', 'links']

/** Are read with cursors alone: counting their items takes too long. */
const UNCOUNTED: ReadonlySet<string> = new Set(['/conversions', '/events'])

type Described = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string }>>>
  >
}

onSqlite('lists', (stage) => {
  let person: PersonClient
  let paths: readonly string[]
  before(async () => {
    person = await setUp(stage.service)
    person.workspaceId = (await person.get('/session')).body.memberships[0].workspace_id
    const { body } = await stage.api.get('/openapi.json')
    const every = Object.entries((body as Described).paths).flatMap(([path, { get }]) =>
      /\.list/.test(get?.operationId ?? '') ? path.replace('/api/v1', '') : [],
    )
    const described = Object.keys(OPERATION_ACCESS).filter((name) => /\.list/.test(name))
    assert.equal(every.length, described.length)
    // What belongs to one thing has tests beside it.
    paths = every.filter((path) => !path.includes('{'))
  })

  test('have the envelope of the specification, each of them', async () => {
    for (const path of paths) {
      const { data, links, meta, ...others } = expectStatus(await person.get(path), 200).body
      assert.ok(Array.isArray(data), path)
      assert.deepEqual(others, {}, path)
      assert.deepEqual(Object.keys(links), LINKS, path)
      const { next_cursor: cursor = null, ...rest } = meta
      assert.deepEqual([Object.keys(rest), cursor], [META, null], path)
      assert.deepEqual([meta.current_page, meta.per_page], [1, 25], path)
      const labels = meta.links.map(({ label }: { label: string }) => label)
      assert.deepEqual(labels, ['Previous', '1', 'Next'], path)
      assert.equal(meta.total, UNCOUNTED.has(path) ? null : data.length, path)
    }
  })

  test('take a page, except those without a total, and refuse unknown parameters', async () => {
    for (const path of paths) {
      const expected = UNCOUNTED.has(path) ? 422 : 200
      const answer = await person.get(`${path}?page=2&per_page=7`)
      expectStatus(answer, expected)
      if (expected === 200) assert.deepEqual(answer.body.data, [], path)
      expectStatus(await person.get(`${path}?bogus=1`), 422)
    }
  })

  describe('that are read as a whole', () => {
    const names = Array.from({ length: 27 }, (_, nth) => `token ${nth}`)
    let admin: Api
    let total = 0
    before(async () => {
      const scopes = ['workspace:admin', 'links:read'] as const
      admin = apiClient(stage.service.baseUrl, await stage.service.token('many', scopes))
      for (const name of names) {
        expectStatus(await admin.post('/tokens', { name, scopes: ['links:read'] }), 201)
      }
      total = (await list('/tokens')).meta.total
    })
    const list = async (path: string) => expectStatus(await admin.get(path), 200).body
    const pathOf = (address: string) => address.slice(address.indexOf('/tokens'))
    const namesOf = ({ data }: { data: readonly { name: string }[] }) =>
      data.map(({ name }) => name).filter((name) => name.startsWith('token '))

    test('are returned by page, with the cursor of the next page beside', async () => {
      const first = await list('/tokens')
      const second = await list('/tokens?page=2')
      assert.deepEqual([...namesOf(first), ...namesOf(second)], names)
      assert.deepEqual([first.meta.from, first.meta.to, first.meta.last_page], [1, 25, 2])
      assert.deepEqual([second.meta.from, second.meta.to], [26, total])
      assert.equal(first.links.next, `${first.meta.path}?page=2`)
      const rest = await list(`/tokens?cursor=${first.meta.next_cursor}`)
      assert.deepEqual(rest.data, second.data)
      assert.deepEqual([rest.meta.from, rest.meta.current_page], [26, 2])
      assert.deepEqual([rest.meta.next_cursor, second.meta.next_cursor], [null, null])
    })

    test('return each item once to a walk while others come and go', async () => {
      const first = await list('/tokens?cursor=&per_page=10')
      const [gone] = first.data.filter(({ name }: { name: string }) => name === 'token 3')
      expectStatus(await admin.delete(`/tokens/${gone.id}`), 200)
      const walked = [...namesOf(first)]
      let page = first
      while (page.links.next !== null) {
        page = await list(pathOf(page.links.next))
        walked.push(...namesOf(page))
      }
      assert.deepEqual(walked, names)
      const before = await list(pathOf(page.links.prev))
      assert.deepEqual(namesOf(before), walked.slice(-namesOf(page).length - 10).slice(0, 10))
    })

    test('refuse a cursor of another workspace', async () => {
      const { meta } = await list('/tokens?per_page=10')
      const answer = await stage.service.api('other', ['workspace:admin'])
      expectStatus(await answer.get(`/tokens?cursor=${meta.next_cursor}`), 422)
    })
  })
})
