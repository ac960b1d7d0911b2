import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { SEARCH_QUEUE } from '../../src/links/link-query.ts'
import { addKeyspace, insertLink } from '../storage/samples.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

/** How many searches of one workspace may run and wait. */
const SEARCHES_MAX = (SEARCH_QUEUE.concurrencyPerOwner ?? 0) + SEARCH_QUEUE.waitingPerOwnerMax
/** Enough links that a search takes several turns. */
const LINKS = 3_000
const LINKS_PER_TRANSACTION = 100
const DAY = '2026-03-29'
const ATTEMPTS_MAX = 5

const tests = (stage: Stage) => {
  let other: Api
  before(async () => {
    const { store } = stage.service.instance
    const { workspace_id } = await createLink(stage.api)
    const home = await addKeyspace(store, workspace_id)
    for (let made = 0; made < LINKS; made += LINKS_PER_TRANSACTION) {
      await store.write(async (stores) => {
        for (let nth = 0; nth < LINKS_PER_TRANSACTION; nth += 1) await insertLink(stores, home)
      })
    }
    other = await stage.service.api('other')
    const clicked = await createLink(other)
    const seq = await seqOf(stage.service, clicked)
    const at = Date.parse(`${DAY}T12:00:00Z`) * 1_000
    await takeIn(stage.service, [
      someClick({ at, link_seq: seq, country: 'DE', os: 'iOS' }),
      someClick({ at, link_seq: seq, country: 'DE', os: 'Linux' }),
    ])
  })

  const search = () => stage.api.get('/links?search=zzzz&sort=key')

  test('run in turns, and let another workspace’s chart finish before them', async () => {
    const query = `/clicks?from=${DAY}&to=2026-03-30&country=DE&group_by=os`
    const isChartLast = async () => {
      const ended: string[] = []
      const note = async <T>(name: string, work: Promise<T>) => {
        const result = await work
        ended.push(name)
        return result
      }
      const searches = Array.from({ length: SEARCHES_MAX }, () => note('search', search()))
      const chart = expectStatus(await note('chart', other.get(query)), 200)
      assert.equal(chart.body.total.clicks, 2)
      for (const answer of await Promise.all(searches)) {
        // On a busy machine the last ones may have waited too long for their turn.
        if (answer.status !== 200) expectProblem(answer, 'overloaded')
      }
      return ended.at(-1) === 'chart'
    }
    // The searches take a fraction of a second, in which the chart's requests to the database may come late by chance.
    let isLast = true
    for (let left = ATTEMPTS_MAX; isLast && left > 0; left -= 1) isLast = await isChartLast()
    assert.equal(isLast, false)
  })

  test('return 429 when the queue is full, while another workspace can still search', async () => {
    const searches = Array.from({ length: SEARCHES_MAX * 2 }, search)
    expectStatus(await other.get('/links?search=zzzz'), 200)
    const answers = await Promise.all(searches)
    const refused = answers.filter(({ status }) => status === 429)
    assert.ok(refused.length > 0)
    for (const answer of answers) {
      // On a busy machine the last ones may have waited too long for their turn.
      if (![200, 429].includes(answer.status)) expectProblem(answer, 'overloaded')
    }
    assert.ok(answers.length - refused.length >= SEARCHES_MAX)
    for (const answer of refused) {
      expectProblem(answer, 'queue_full')
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    }
    expectStatus(await search(), 200)
  })

  test('do not delay the plain list', async () => {
    const searches = Array.from({ length: SEARCHES_MAX * 2 }, search)
    const lists = Array.from({ length: 70 }, () => stage.api.get('/links'))
    for (const answer of await Promise.all(lists)) expectStatus(answer, 200)
    await Promise.all(searches)
  })
}

onEachEngine('searches of a workspace', tests, { TERSE_CLICK_RETENTION_DAYS: '0' })
