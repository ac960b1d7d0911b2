import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { createLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'

/** Up to this number of pages, each page has its label. */
const PAGES_WITH_LABELS_MAX = 200

type Label = { url: string | null; label: string; active: boolean }

/** The labels between `Previous` and `Next`, with one link a page. */
async function labelsOf(api: Api, page: number): Promise<Label[]> {
  const { body } = expectStatus(await api.get(`/links?per_page=1&page=${page}`), 200)
  const labels: Label[] = body.meta.links
  assert.equal(labels.at(0)?.label, 'Previous')
  assert.equal(labels.at(-1)?.label, 'Next')
  return labels.slice(1, -1)
}

onSqlite('the page labels of a long list', (stage) => {
  let extra: string
  before(async () => {
    for (let made = 0; made < PAGES_WITH_LABELS_MAX; made += 25) {
      await Promise.all(Array.from({ length: 25 }, () => createLink(stage.api)))
    }
  })

  test('are one for each page up to 200 pages', async () => {
    const labels = await labelsOf(stage.api, 100)
    const pages = Array.from({ length: PAGES_WITH_LABELS_MAX }, (_, index) => String(index + 1))
    assert.deepEqual(
      labels.map(({ label }) => label),
      pages,
    )
    assert.deepEqual(
      labels.filter(({ active }) => active).map(({ label }) => label),
      ['100'],
    )
  })

  test('have gaps above 200 pages, and always include both ends and the pages around', async () => {
    extra = (await createLink(stage.api)).id
    const last = PAGES_WITH_LABELS_MAX + 1
    for (const page of [1, 2, 5, 6, 7, 8, 100, last - 6, last - 1, last]) {
      const labels = await labelsOf(stage.api, page)
      assert.ok(labels.length < 20, `${labels.length} labels on page ${page}`)
      assert.deepEqual(
        labels.filter(({ active }) => active).map(({ label }) => label),
        [String(page)],
      )
      const named = labels.map(({ label }) => label)
      for (const needed of [1, page - 1, page, page + 1, last]) {
        if (needed >= 1 && needed <= last)
          assert.ok(named.includes(String(needed)), `${page}: ${named}`)
      }
      expectGapsInOrder(labels)
    }
  })

  test('past the last page include both ends, and none is active', async () => {
    const labels = await labelsOf(stage.api, 1_000_000_000)
    assert.ok(labels.length < 20)
    assert.ok(labels.every(({ active }) => !active))
    assert.equal(labels.at(0)?.label, '1')
    assert.equal(labels.at(-1)?.label, String(PAGES_WITH_LABELS_MAX + 1))
    expectGapsInOrder(labels)
  })

  test('are one for each page again when the list has become short', async () => {
    expectStatus(await stage.api.delete(`/links/${extra}`), 200)
    assert.equal((await labelsOf(stage.api, 1)).length, PAGES_WITH_LABELS_MAX)
  })
})

/** Numbers rise; between two that are not consecutive there is one `...`, and nowhere else. */
function expectGapsInOrder(labels: readonly Label[]): void {
  let previous = 0
  let gap = false
  for (const { url, label } of labels) {
    if (label === '...') {
      assert.equal(url, null)
      assert.ok(!gap, 'two gaps in a row')
      gap = true
      continue
    }
    const page = Number(label)
    assert.equal(new URL(url ?? '').searchParams.get('page'), label)
    assert.equal(gap, page !== previous + 1, `between ${previous} and ${page}`)
    assert.ok(page > previous)
    previous = page
    gap = false
  }
  assert.ok(!gap, 'a gap at the end')
}
