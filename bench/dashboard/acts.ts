import type { Browser, Page } from 'playwright-core'
import { quantile, round } from '../support/statistics.ts'
import { openContext, type Target } from './pages.ts'
import { type ActTimes, timeAct } from './watch.ts'

const STILL = 'document.querySelector(\'main [aria-busy="true"]\') === null'
const FIRST_ROW = "document.querySelector('.tbl tbody .short')?.textContent"
const CURRENT_PAGE = "document.querySelector('.pages [aria-current]')?.textContent"
const PAGES_FORWARD = 5

type Act = {
  readonly name: string
  readonly path: string
  /** Performs what is measured as often as asked for, each time with something that is not cached. */
  run(page: Page, rounds: number): Promise<readonly ActTimes[]>
}

/** What people do all day, and at what a large workspace would lag. */
export function actsOf(links: number): readonly Act[] {
  return [
    {
      name: 'links: search, one match',
      path: '/links',
      run: (page, rounds) =>
        repeat(rounds, (nth) => search(page, `page-${Math.floor(links / 2) + nth}`)),
    },
    {
      name: 'links: search, no match',
      path: '/links',
      run: (page, rounds) => repeat(rounds, (nth) => search(page, `no-link-has-${nth}`, false)),
    },
    {
      name: 'links: filter by tag',
      path: '/links',
      run: (page, rounds) => repeat(rounds, (nth) => filterByTag(page, nth)),
    },
    {
      name: 'links: sort by clicks, and back',
      path: '/links',
      run: (page, rounds) => repeat(rounds, () => sortByClicks(page)),
    },
    { name: 'links: next page', path: '/links', run: (page) => turnPages(page) },
    {
      name: 'links: last page, and the first',
      path: '/links',
      run: (page, rounds) => repeat(rounds, (nth) => toPage(page, nth % 2 === 0)),
    },
    {
      name: 'links: select a page',
      path: '/links',
      run: (page, rounds) => repeat(rounds, (nth) => selectPage(page, nth % 2 === 0)),
    },
    {
      name: 'links: select and tag 5,000',
      path: '/links',
      run: async (page) => [await tagSelected(page)],
    },
    {
      name: 'analytics: another period',
      path: '/analytics?period=7d',
      run: (page) => choosePeriods(page),
    },
    {
      name: 'tags: next page',
      path: '/tags',
      run: (page) => turnPages(page),
    },
    {
      name: 'domains: next page',
      path: '/domains',
      run: (page) => turnPages(page),
    },
  ]
}

export async function measureAct(browser: Browser, target: Target, act: Act, rounds: number) {
  const context = await openContext(browser, target)
  try {
    const page = await context.newPage()
    await page.goto(`${target.origin}/app${act.path}`)
    await page.locator('.pager, .kpis').first().waitFor()
    const times = await act.run(page, rounds)
    const of = (values: readonly number[]) => round(quantile(values, 0.95), 0)
    return {
      act: act.name,
      times: times.length,
      'p95 ms': of(times.map(({ totalMs }) => totalMs)),
      'p95 ms of the API': of(times.map(({ apiMs }) => apiMs)),
      'p95 ms of the page': of(times.map(({ totalMs, apiMs }) => totalMs - apiMs)),
    }
  } finally {
    await context.close()
  }
}

async function repeat(
  rounds: number,
  once: (nth: number) => Promise<ActTimes>,
): Promise<readonly ActTimes[]> {
  const times: ActTimes[] = []
  for (let nth = 0; nth < rounds; nth += 1) times.push(await once(nth))
  return times
}

/** The pause after the last key is part of it. */
function search(page: Page, text: string, isFound = true): Promise<ActTimes> {
  const found = isFound
    ? `${FIRST_ROW}?.includes('${text}')`
    : "document.querySelector('.tbl') === null && document.querySelector('.empty') !== null"
  const field = page.getByRole('toolbar').getByRole('searchbox')
  return timeAct(page, `location.search.includes('${text}') && ${found} && ${STILL}`, () =>
    field.fill(text),
  )
}

async function filterByTag(page: Page, nth: number): Promise<ActTimes> {
  const tools = page.getByRole('toolbar')
  await tools.getByRole('button', { name: 'Tag', exact: true }).click()
  const choice = page.getByRole('menuitemradio').nth(1 + nth)
  const shown = `location.search.includes('tag=') && ${STILL} && ${FIRST_ROW} !== undefined`
  const times = await timeAct(page, shown, () => choice.click())
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Remove filter: Tag/ }).click()
  await page.waitForURL((url) => !url.search.includes('tag='))
  return times
}

async function sortByClicks(page: Page): Promise<ActTimes> {
  const head = page.getByRole('columnheader', { name: 'Clicks' })
  const before = await head.getAttribute('aria-sort')
  const sorted = `document.querySelector('.c-clicks[aria-sort]')?.ariaSort`
  return timeAct(page, `(${sorted} ?? null) !== ${JSON.stringify(before)} && ${STILL}`, () =>
    head.getByRole('button').click(),
  )
}

async function turnPages(page: Page): Promise<readonly ActTimes[]> {
  return repeat(PAGES_FORWARD, (nth) =>
    timeAct(page, `${CURRENT_PAGE} === '${nth + 2}' && ${STILL}`, () =>
      page.getByRole('link', { name: 'Next page' }).click(),
    ),
  )
}

async function toPage(page: Page, isLast: boolean): Promise<ActTimes> {
  const numbers = page.getByRole('link', { name: /^Page \d/ })
  const link = isLast ? numbers.last() : numbers.first()
  const number = await link.innerText()
  return timeAct(page, `${CURRENT_PAGE} === '${number}' && ${STILL}`, () => link.click())
}

async function selectPage(page: Page, isSelected: boolean): Promise<ActTimes> {
  const rows = "[...document.querySelectorAll('.tbl tbody tr')]"
  const done = `${rows}.every((row) => row.classList.contains('is-sel') === ${isSelected})`
  const all = page.getByRole('checkbox', { name: 'Select all on this page' })
  return timeAct(page, done, () => all.click())
}

async function tagSelected(page: Page): Promise<ActTimes> {
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.getByRole('button', { name: /^Select (?:all|the newest)/ }).click()
  await page.getByText(/^[\d,]{4,} selected$/).waitFor()
  await page.getByRole('button', { name: 'Tag', exact: true }).last().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Tags').fill('measured')
  const done = '/links changed/.test(document.body.textContent)'
  return timeAct(page, done, () => dialog.getByRole('button', { name: 'Tag' }).click())
}

async function choosePeriods(page: Page): Promise<readonly ActTimes[]> {
  const answered = "performance.getEntriesByType('resource').length > 8"
  const times: ActTimes[] = []
  for (const name of ['Last 30 days', 'Last 90 days', 'Last 12 months']) {
    await page
      .getByRole('toolbar')
      .getByRole('button', { name: /^Last / })
      .click()
    const choice = page.getByRole('menuitemradio', { name })
    times.push(await timeAct(page, `${answered} && ${STILL}`, () => choice.click()))
    await page.keyboard.press('Escape')
  }
  return times
}
