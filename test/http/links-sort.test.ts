import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createLink, listedKeys, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

/** In order of creation. */
const KEYS = ['m', 'Z', 'b', 'a', 'é']
/** Visited in this order, so that no two orders below coincide. */
const VISITS = ['b', 'b', 'b', 'm', 'Z', 'Z']
const UPDATES = ['Z', 'é', 'm', 'a', 'b']

/** The ascending order by each field; the descending one is its reverse. */
const ASCENDING: Readonly<Record<string, readonly string[]>> = {
  created_at: KEYS,
  updated_at: UPDATES,
  // Equal links are ordered by age, the older first.
  clicks: ['a', 'é', 'm', 'Z', 'b'],
  // Links that were never clicked come first.
  last_click: ['a', 'é', 'b', 'm', 'Z'],
  // By code point, on both engines.
  key: ['Z', 'a', 'b', 'm', 'é'],
}

onEachEngine('the order of the link list', (stage) => {
  before(async () => {
    const ids = new Map<string, string>()
    for (const key of KEYS) ids.set(key, (await createLink(stage.api, { key, tags: ['all'] })).id)
    for (const key of UPDATES) {
      expectStatus(await stage.api.patch(`/links/${ids.get(key)}`, { utm_source: 'x' }), 200)
    }
    for (const key of VISITS) await visit(stage.service.port, `/${key}`)
    await eventually(async () => {
      for (const key of KEYS) {
        const { clicks } = await showLink(stage.api, ids.get(key) ?? '')
        assert.equal(clicks, VISITS.filter((visited) => visited === key).length, key)
      }
    })
  })

  test('is newest first by default, with a filter too', async () => {
    assert.deepEqual(await listedKeys(stage.api, ''), KEYS.toReversed())
    assert.deepEqual(await listedKeys(stage.api, '?tag=all'), KEYS.toReversed())
  })

  for (const [field, ascending] of Object.entries(ASCENDING)) {
    test(`is by ${field} in both directions, on one page and across pages`, async () => {
      for (const [sort, expected] of [
        [field, ascending],
        [`-${field}`, ascending.toReversed()],
      ] as const) {
        assert.deepEqual(await listedKeys(stage.api, `?sort=${sort}`), expected, sort)
        const paged: string[] = []
        for (const page of [1, 2, 3]) {
          paged.push(...(await listedKeys(stage.api, `?sort=${sort}&per_page=2&page=${page}`)))
        }
        assert.deepEqual(paged, expected, sort)
        assert.deepEqual(await listedKeys(stage.api, `?sort=${sort}&tag=all`), expected, sort)
      }
    })
  }
})
