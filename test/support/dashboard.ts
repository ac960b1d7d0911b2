import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { setUp } from './person-client.ts'
import type { Service } from './service.ts'

export type DashboardOptions = {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  readonly locale?: string
  /** The time of the page, which then stands still. */
  readonly now?: Date
}

/** A signed-in dashboard in a browser, and what went wrong in it. */
export type Dashboard = {
  readonly page: Page
  readonly context: BrowserContext
  readonly origin: string
  /** Errors of the console and of scripts, reports of the policy, and requests to other hosts. */
  readonly faults: string[]
  close(): Promise<void>
}

/** Opens a page of the dashboard as the owner of the workspace `acme`. */
export async function openDashboard(
  browser: Browser,
  service: Service,
  path: string,
  options: DashboardOptions = {},
): Promise<Dashboard> {
  const { theme = 'light', width = 1_280, height = 800, locale = 'en-GB', now } = options
  const origin = `http://localhost:${service.port}`
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    locale,
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const [name, value = ''] = (await ownerCookie(service)).split('=')
  await context.addCookies([{ name: name ?? '', value, url: origin }])
  const page = await context.newPage()
  if (now !== undefined) await page.clock.setFixedTime(now)
  const faults = watchFaults(page, origin)
  await page.goto(`${origin}/app${path}`)
  async function close(): Promise<void> {
    // A sign-in within the page has ended the session that it began with.
    const [cookie] = await context.cookies(origin)
    if (cookie !== undefined) {
      cookies.set(service, Promise.resolve(`${cookie.name}=${cookie.value}`))
    }
    await context.close()
  }
  return { page, context, origin, faults, close }
}

/** The cookie of a person who owns the workspace `acme`; one for each service. */
const cookies = new WeakMap<Service, Promise<string>>()

function ownerCookie(service: Service): Promise<string> {
  let cookie = cookies.get(service)
  if (cookie === undefined) {
    cookie = service.token('acme').then(async () => (await setUp(service)).cookie)
    cookies.set(service, cookie)
  }
  return cookie
}

/** Opens a page, and expects at the end that nothing went wrong in it. */
export async function inDashboard(
  browser: Browser,
  service: Service,
  path: string,
  use: (page: Page, dashboard: Dashboard) => Promise<void>,
  options: DashboardOptions = {},
): Promise<void> {
  const dashboard = await openDashboard(browser, service, path, options)
  try {
    await use(dashboard.page, dashboard)
    assert.deepEqual(dashboard.faults, [])
  } finally {
    await dashboard.close()
  }
}

/** Expects that a page is accessible and not wider than its window. */
export async function expectFit(page: Page): Promise<void> {
  assert.deepEqual(await violationsOf(page), [], page.url())
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  assert.ok(Number(overflow) <= 0, `${page.url()} is ${overflow} px too wide`)
}

/** The looks in which every page is tested. */
export const LOOKS = (['light', 'dark'] as const).flatMap((theme) =>
  [360, 1_280].map((width) => ({ theme, width })),
)

export function watchFaults(page: Page, origin: string): string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) faults.push(url)
  })
  return faults
}

/** The rules that a page violates, with the elements. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`)
}
