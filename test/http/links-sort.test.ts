import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createLink, listedKeys, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

/** In the order of creation. */
const KEYS = ['m', 'Z', 'b', 'a', 'é']
/** Visited in this order, so that no two orders below are alike by chance. */
const VISITS = ['b', 'b', 'b', 'm', 'Z', 'Z']
const UPDATES = ['Z', 'é', 'm', 'a', 'b']

/** The rising order of each; the falling one is its reverse. */
const RISING: Readonly<Record<string, readonly string[]>> = {
  created_at: KEYS,
  updated_at: UPDATES,
  // Among equals the older link is the lesser.
  clicks: ['a', 'é', 'm', 'Z', 'b'],
  // What was never clicked comes before what was.
  last_click: ['a', 'é', 'b', 'm', 'Z'],
  // By code point, on every engine alike.
  key: ['Z', 'a', 'b', 'm', 'é'],
}

onEachEngine('The order of the link list', (stage) => {
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

  test('is newest first when none is asked for, with a filter too', async () => {
    assert.deepEqual(await listedKeys(stage.api, ''), KEYS.toReversed())
    assert.deepEqual(await listedKeys(stage.api, '?tag=all'), KEYS.toReversed())
  })

  for (const [field, rising] of Object.entries(RISING)) {
    test(`is by ${field} either way, on one page and across pages`, async () => {
      for (const [sort, expected] of [
        [field, rising],
        [`-${field}`, rising.toReversed()],
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
