import type { Browser, BrowserContext } from 'playwright-core'
import { median, quantile, round } from '../support/statistics.ts'
import { busyUntilMs, seen, shiftOf, throttle, watch } from './watch.ts'

const CPU_RATE = 4
/** After the content: what it makes the page do counts too. */
const AFTERWARDS_MS = 1_000
const WIDTHS = [1_280, 360]
/** Answers of the API in the slow round: the later a request, the longer, and never in the same order. */
const SLOW_MS = [300, 1_400, 700, 1_100, 500]
const SLOW_ROUND_MS = 4_500

export type Target = {
  readonly origin: string
  readonly cookies: readonly { readonly name: string; readonly value: string }[]
  /** A link with many clicks. */
  readonly linkId: string
}

/** A page, and the expression of the browser that says that its content is shown. */
export type MeasuredPage = {
  readonly name: string
  readonly path: string
  readonly isShown: string
  readonly isSignedOut?: boolean
}

export async function openContext(
  browser: Browser,
  { origin, cookies }: Target,
  options: { readonly width?: number; readonly isSignedOut?: boolean } = {},
): Promise<BrowserContext> {
  const { width = 1_280, isSignedOut = false } = options
  const context = await browser.newContext({ viewport: { width, height: 800 }, locale: 'en-GB' })
  if (!isSignedOut) await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: origin })))
  await watch(context)
  return context
}

/** Opens a page with empty caches: when its content is shown, and when it answers from then on. */
export async function measureStart(
  browser: Browser,
  target: Target,
  page: MeasuredPage,
  rounds: number,
) {
  const shownMs: number[] = []
  const interactiveMs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const context = await openContext(browser, target, page)
    const opened = await context.newPage()
    await throttle(opened, CPU_RATE)
    await opened.goto(`${target.origin}/app${page.path}`, { waitUntil: 'commit' })
    const shown = await seen(opened, page.isShown)
    await opened.waitForTimeout(AFTERWARDS_MS)
    shownMs.push(shown)
    interactiveMs.push(Math.max(shown, await busyUntilMs(opened)))
    await context.close()
  }
  return {
    page: page.name,
    'shown, median ms': round(median(shownMs), 0),
    'interactive, median ms': round(median(interactiveMs), 0),
    'p95 ms': round(quantile(interactiveMs, 0.95), 0),
    'best ms': round(Math.min(...interactiveMs), 0),
  }
}

/** The layout shifts of a page on a desktop and a phone, with answers at once and with slow ones. */
export async function measureShifts(browser: Browser, target: Target, page: MeasuredPage) {
  const shifts: Record<string, number> = {}
  for (const width of WIDTHS) {
    for (const isSlow of [false, true]) {
      const context = await openContext(browser, target, { ...page, width })
      const opened = await context.newPage()
      let requests = 0
      if (isSlow) {
        await opened.route(`${target.origin}/api/v1/**`, async (route) => {
          const delayMs = SLOW_MS[requests % SLOW_MS.length] ?? 0
          requests += 1
          await new Promise((done) => setTimeout(done, delayMs))
          await route.continue().catch(() => {})
        })
      }
      await opened.goto(`${target.origin}/app${page.path}`, { waitUntil: 'commit' })
      await seen(opened, page.isShown)
      await opened.waitForTimeout(isSlow ? SLOW_ROUND_MS : AFTERWARDS_MS)
      shifts[`${width} px${isSlow ? ', slow answers' : ''}`] = round(await shiftOf(opened), 4)
      await context.close()
    }
  }
  return { page: page.name, ...shifts }
}
