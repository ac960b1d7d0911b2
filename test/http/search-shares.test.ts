import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'

const AT_ONCE = 70

onEachEngine('A workspace that searches without end', (stage) => {
  test('is told to come back, and keeps no other workspace from searching', async () => {
    const other = await stage.service.api('other')
    const many = Array.from({ length: AT_ONCE }, () => stage.api.get('/links?search=zzzz'))
    const ours = await other.get('/links?search=zzzz')
    expectStatus(ours, 200)

    const answers = await Promise.all(many)
    const refused = answers.filter(({ status }) => status !== 200)
    assert.ok(refused.length > 0, 'some were too many at once')
    assert.ok(refused.length < AT_ONCE, 'some were answered')
    for (const answer of refused) {
      expectProblem(answer, 'rate_limited')
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    }
    expectStatus(await stage.api.get('/links?search=zzzz'), 200)
  })

  test('still lists its links in their usual order', async () => {
    const lists = Array.from({ length: AT_ONCE }, () => stage.api.get('/links'))
    for (const answer of await Promise.all(lists)) expectStatus(answer, 200)
  })
})
