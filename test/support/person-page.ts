import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { type Dashboard, type DashboardOptions, violationsOf, watchFaults } from './dashboard.ts'
import type { PersonClient } from './person-client.ts'
import type { Service } from './service.ts'

type PersonPageOptions = DashboardOptions & {
  /** Whose session the browser has; undefined for a stranger. */
  readonly as?: PersonClient
}

/** Opens a page of the dashboard with the session of a person. */
export async function openPersonPage(
  browser: Browser,
  service: Service,
  path: string,
  options: PersonPageOptions = {},
): Promise<Dashboard> {
  const { as, theme = 'light', width = 1_280, height = 800, locale = 'en-GB' } = options
  const origin = `http://localhost:${service.port}`
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    locale,
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const pairs = as === undefined || as.cookie === '' ? [] : as.cookie.split('; ')
  await context.addCookies(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return { name, value, domain: 'localhost', path: '/' }
    }),
  )
  const page = await context.newPage()
  const faults = watchFaults(page, origin)
  await page.goto(`${origin}/app${path}`)
  return { page, context, origin, faults, close: () => context.close() }
}

const LOOKS = (['light', 'dark'] as const).flatMap((theme) =>
  [1_280, 360].map((width) => ({ theme, width })),
)

/** Expects no violation of axe and no sideways scrolling, light and dark, on a desktop and on a phone. */
export async function expectAccessible(page: Page): Promise<void> {
  const before = page.viewportSize()
  for (const { theme, width } of LOOKS) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    const look = `${page.url()}, ${theme}, ${width} px`
    assert.deepEqual(await violationsOf(page), [], look)
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    assert.ok(Number(overflow) <= 0, `${look}: ${overflow} px too wide`)
  }
  if (before !== null) await page.setViewportSize(before)
}

/** Takes what the browser reports about refused requests that a test has made on purpose. */
export function dropRefusals(faults: string[], count: number): void {
  const refusals = faults.filter((fault) => /responded with a status of 4\d\d/.test(fault))
  assert.equal(refusals.length, count, refusals.join('\n'))
  const others = faults.filter((fault) => !refusals.includes(fault))
  faults.splice(0, faults.length, ...others)
}
