import assert from 'node:assert/strict'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { eventually } from './eventually.ts'
import { type PersonClient, setUp } from './person-client.ts'
import type { Service } from './service.ts'
import { watchRequests } from './settled.ts'

export type DashboardOptions = {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  readonly locale?: string
  /** The time of the page, which then stands still. */
  readonly now?: Date
  /** Opens it in a browser context of its own, for tests that change the clock, the network or storage of one. */
  readonly alone?: boolean
}

/** The dashboard in a browser, and what went wrong in it. */
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
  const opened = await open(browser, service, path, await ownerCookie(service), options)
  async function close(): Promise<void> {
    // A sign-in within the page has ended the session that it began with.
    const kept = await opened.context.cookies(opened.origin)
    const header = kept.map(({ name, value }) => `${name}=${value}`).join('; ')
    cookies.set(service, Promise.resolve(header))
    await opened.close()
  }
  return { ...opened, close }
}

type PersonPageOptions = DashboardOptions & {
  /** The person whose session the browser has; undefined for a stranger. */
  readonly as?: PersonClient
}

/** Opens a page of the dashboard with the session of a person. */
async function openPersonPage(
  browser: Browser,
  service: Service,
  path: string,
  { as, ...options }: PersonPageOptions = {},
): Promise<Dashboard> {
  return open(browser, service, path, as?.cookie ?? '', options)
}

/** How long a page may take for what a test waits for: a busy machine takes more than Playwright's 30 s. */
export const BROWSER_PATIENCE_MS = 90_000

/** Contexts that pages share one after another: a new one costs more than its page, which then finds no compiled code. */
const contexts = new WeakMap<Browser, Map<string, BrowserContext>>()

async function newContext(browser: Browser, locale: string): Promise<BrowserContext> {
  const context = await browser.newContext({
    locale,
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(BROWSER_PATIENCE_MS)
  return context
}

/** Takes the context that pages of a language share, or makes one while another page uses it. */
async function takeContext(browser: Browser, locale: string): Promise<BrowserContext> {
  const free = contexts.get(browser)?.get(locale)
  contexts.get(browser)?.delete(locale)
  return free ?? newContext(browser, locale)
}

/** Gives a context back without what its pages have left in it, or closes it where that cannot be known. */
async function giveContextBack(context: BrowserContext, locale: string, page: Page): Promise<void> {
  const browser = context.browser()
  const isCleared = await page.evaluate('localStorage.clear()').then(
    () => true,
    () => false,
  )
  if (browser === null || !isCleared) return await context.close()
  await Promise.all(context.pages().map((opened) => opened.close()))
  await context.clearCookies()
  const free = contexts.get(browser) ?? new Map<string, BrowserContext>()
  contexts.set(browser, free)
  if (free.has(locale)) await context.close()
  else free.set(locale, context)
}

/** @param cookie a `Cookie` header */
async function open(
  browser: Browser,
  service: Service,
  path: string,
  cookie: string,
  options: DashboardOptions,
): Promise<Dashboard> {
  const { theme = 'light', width = 1_280, height = 800, locale = 'en-GB', now } = options
  const isAlone = options.alone === true || now !== undefined
  const origin = `http://localhost:${service.port}`
  const context = await (isAlone ? newContext(browser, locale) : takeContext(browser, locale))
  const pairs = cookie === '' ? [] : cookie.split('; ')
  await context.addCookies(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return { name, value, url: origin }
    }),
  )
  const page = await context.newPage()
  await page.setViewportSize({ width, height })
  // Frames of animations are the larger part of what a page costs.
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
  if (now !== undefined) await page.clock.setFixedTime(now)
  const faults = watchFaults(page, origin)
  watchRequests(page)
  await page.goto(`${origin}/app${path}`)
  const close = () => (isAlone ? context.close() : giveContextBack(context, locale, page))
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

/** Opens a page as `openDashboard`, and expects at the end that nothing went wrong in it. */
export async function inDashboard(
  browser: Browser,
  service: Service,
  path: string,
  use: (page: Page, dashboard: Dashboard) => Promise<void>,
  options: DashboardOptions = {},
): Promise<void> {
  await using(await openDashboard(browser, service, path, options), use)
}

/** Opens a page as `openPersonPage`, and expects at the end that nothing went wrong in it. */
export async function inPersonPage(
  browser: Browser,
  service: Service,
  path: string,
  use: (page: Page, dashboard: Dashboard) => Promise<void>,
  options: PersonPageOptions = {},
): Promise<void> {
  await using(await openPersonPage(browser, service, path, options), use)
}

async function using(
  dashboard: Dashboard,
  use: (page: Page, dashboard: Dashboard) => Promise<void>,
): Promise<void> {
  try {
    await use(dashboard.page, dashboard)
    assert.deepEqual(dashboard.faults, [])
  } finally {
    await dashboard.close()
  }
}

/** Takes what the browser reports about refused requests that a test has made on purpose. */
export function dropRefusals(faults: string[], count: number): void {
  const refusals = faults.filter((fault) => /responded with a status of 4\d\d/.test(fault))
  assert.equal(refusals.length, count, refusals.join('\n'))
  const others = faults.filter((fault) => !refusals.includes(fault))
  faults.splice(0, faults.length, ...others)
}

/** Waits until the clipboard has a text of this form: it is written after the click that asks for it. */
export async function expectCopied(page: Page, form: RegExp): Promise<string> {
  return eventually(async () => {
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.match(copied, form)
    return copied
  })
}

/** Waits until keys reach a field, of the dialog or page: it is shown before it has the focus. */
export async function expectFocusIn(place: Locator | Page): Promise<void> {
  await place.locator('input:focus').waitFor()
}

/** Lets the offers of Undo that a page makes from here on last for minutes, as a busy machine needs them. */
export async function keepUndoOffers(page: Page): Promise<void> {
  await page.evaluate(`{
    const start = setTimeout
    setTimeout = (run, ms, ...rest) => start(run, ms === 6_000 ? 600_000 : ms, ...rest)
  }`)
}

/**
 * What a busy machine may cause, after which the page asks again: a test of partitions makes and cuts networks,
 * and the service refuses charts that have waited for long.
 */
const PASSING = /ERR_NETWORK_CHANGED|with a status of 503/

function watchFaults(page: Page, origin: string): string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !PASSING.test(message.text())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) faults.push(url)
  })
  return faults
}
