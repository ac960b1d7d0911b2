import type { Browser } from 'playwright-core'
import { launchChromium } from '../test/support/chromium.ts'
import { SQLITE } from '../test/support/engines.ts'
import { actsOf, measureAct } from './dashboard/acts.ts'
import { fillWorkspace, makeSetupCode } from './dashboard/fill.ts'
import { type MeasuredPage, measureShifts, measureStart, type Target } from './dashboard/pages.ts'
import { createToken } from './support/create-token.ts'
import { profilingOptions } from './support/profiling.ts'
import { report } from './support/report.ts'
import { startTerse } from './support/server-process.ts'

/**
 * Measures the dashboard in Chromium over a large workspace: when its pages answer on a slow processor, whether
 * they shift, and how long daily work takes.
 */
const INTERACTIVE_MS_MAX = 1_000
/** Shifts too small to be seen: letters that move by less than a pixel when the font has come. */
const SHIFT_MAX = 0.01
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10)
const AMOUNTS = {
  links: Number(process.env.BENCH_LINKS ?? 100_000),
  clicks: Number(process.env.BENCH_CLICKS ?? 1_000_000),
  tags: 5_000,
  domains: 500,
}

type Row = Readonly<Record<string, string | number>>

const rows: Row[] = []
const missed: string[] = []

/** A round of everything takes minutes. */
function add<R extends Row>(row: R): R {
  rows.push(row)
  process.stderr.write(`${JSON.stringify(row)}\n`)
  return row
}

const shows = (selector: string) => `document.querySelector('${selector}') !== null`

function pagesOf(linkId: string): readonly MeasuredPage[] {
  return [
    {
      name: 'sign-in',
      path: '/sign-in',
      isShown: shows('input[type=password]'),
      isSignedOut: true,
    },
    { name: 'links', path: '/links', isShown: shows('.tbl tbody .short') },
    { name: 'a link', path: `/links/${linkId}`, isShown: shows('.plot') },
    { name: 'a new link', path: '/links/new', isShown: shows('form input') },
    { name: 'analytics', path: '/analytics?period=12m', isShown: shows('.plot') },
    {
      name: 'domains',
      path: '/domains',
      isShown: shows('.dom .domain-name b, .dom .domain-name span'),
    },
    { name: 'tags', path: '/tags', isShown: shows('.pager') },
    { name: 'settings', path: '/settings/general', isShown: shows('.settings form') },
  ]
}

const PARTS: Readonly<Record<string, (browser: Browser, target: Target) => Promise<void>>> = {
  async starts(browser, target) {
    for (const page of pagesOf(target.linkId)) {
      const row = add(await measureStart(browser, target, page, ROUNDS))
      const ms = row['interactive, median ms']
      if (ms > INTERACTIVE_MS_MAX) missed.push(`${page.name} is interactive after ${ms} ms`)
    }
  },
  async shifts(browser, target) {
    for (const page of pagesOf(target.linkId)) {
      const row = add(await measureShifts(browser, target, page))
      const most = Math.max(...Object.values(row).filter((value) => typeof value === 'number'))
      if (most > SHIFT_MAX) missed.push(`${page.name} shifts by ${most}`)
    }
  },
  async acts(browser, target) {
    for (const act of actsOf(AMOUNTS.links)) add(await measureAct(browser, target, act, ROUNDS))
  },
}

async function measure(target: Target): Promise<void> {
  const browser = await launchChromium()
  try {
    const wanted = process.argv.slice(2)
    for (const [name, part] of Object.entries(PARTS)) {
      if (wanted.length === 0 || wanted.includes(name)) await part(browser, target)
    }
  } finally {
    await browser.close()
  }
}

const place = await SQLITE.createPlace()
try {
  const token = await createToken(place.env)
  const code = await makeSetupCode(place.env)
  const terse = await startTerse(place.env, profilingOptions())
  try {
    const owner = await fillWorkspace(place, terse.port, { token, code }, AMOUNTS)
    const cookies = owner.cookie.split('; ').map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return { name, value }
    })
    const { memberships } = (await owner.get('/session')).body
    owner.workspaceId = memberships[0].workspace_id
    const { data } = (await owner.get('/links?sort=-clicks&per_page=1')).body
    await measure({ origin: `http://localhost:${terse.port}`, cookies, linkId: data[0].id })
  } finally {
    await terse.stop()
  }
} finally {
  await place.remove()
}
report('dashboard', rows, missed)
