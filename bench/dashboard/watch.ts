import type { BrowserContext, CDPSession, Page } from 'playwright-core'

/**
 * Within each page: adds up layout shifts, and keeps when the last long task ended. `benchSeen` settles once a
 * condition holds and is painted; `benchAct` too, with the time since the first input and that of the API.
 */
const SCRIPT = `
  window.bench = { shift: 0, busyUntilMs: 0 }
  const follow = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
  follow('layout-shift', ({ value }) => { bench.shift += value })
  follow('longtask', ({ startTime, duration }) => { bench.busyUntilMs = startTime + duration })
  window.benchSeen = (isDone) => new Promise((resolve, reject) => {
    const deadlineMs = performance.now() + 60_000
    const look = () => requestAnimationFrame(() => {
      if (performance.now() > deadlineMs) return reject(new Error('not seen: ' + isDone))
      if (!isDone()) return look()
      setTimeout(() => resolve(performance.now()))
    })
    look()
  })
  window.benchAct = async (isDone) => {
    performance.clearResourceTimings()
    let startedMs
    const begin = ({ timeStamp }) => { startedMs ??= timeStamp }
    for (const type of ['pointerdown', 'keydown', 'input']) addEventListener(type, begin, true)
    const endedMs = await benchSeen(() => startedMs !== undefined && isDone())
    const answers = performance.getEntriesByType('resource')
      .filter(({ name, startTime, responseEnd }) =>
        name.includes('/api/v1/') && startTime >= startedMs && responseEnd > 0 && responseEnd <= endedMs)
    const apiMs = Math.max(0, ...answers.map(({ duration }) => duration))
    return { totalMs: endedMs - startedMs, apiMs }
  }
`

/** How long an act took, and the longest request of the API within it. */
export type ActTimes = { readonly totalMs: number; readonly apiMs: number }

export async function watch(context: BrowserContext): Promise<void> {
  await context.addInitScript(SCRIPT)
}

/** Slows the processor down for a page, as on a phone. */
export async function throttle(page: Page, rate: number): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  return session
}

/** @param condition an expression of the page. Returns the time since the navigation. */
export function seen(page: Page, condition: string): Promise<number> {
  return page.evaluate(`benchSeen(() => ${condition})`) as Promise<number>
}

/** Times what `act` does, from its first input until `condition` holds and is painted. */
export async function timeAct(
  page: Page,
  condition: string,
  act: () => Promise<unknown>,
): Promise<ActTimes> {
  const times = page.evaluate(`benchAct(() => ${condition})`) as Promise<ActTimes>
  const [result] = await Promise.all([times, act()])
  return result
}

export async function shiftOf(page: Page): Promise<number> {
  return Number(await page.evaluate('bench.shift'))
}

/** When the last task ended that kept the page from answering, since the navigation. */
export async function busyUntilMs(page: Page): Promise<number> {
  return Number(await page.evaluate('bench.busyUntilMs'))
}
