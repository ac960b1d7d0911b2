import type { Browser, Page } from 'playwright-core'
import { type Dashboard, openDashboard } from '../../test/support/dashboard.ts'
import { NXDOMAIN, startDnsResponder } from '../../test/support/dns-responder.ts'
import { SQLITE } from '../../test/support/engines.ts'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { type Service, startService } from '../../test/support/service.ts'
import { settle } from '../../test/support/settled.ts'
import { DEMO_DAYS, DEMO_TARGET, fillDemo } from './fill-demo.ts'

// The key screens of the dashboard, with the demo workspace at a fixed time.

const NOW_MS = Date.UTC(2026, 10, 20, 14, 30)
const DESKTOP = { width: 1_200, height: 640 }
const TALL = { width: 1_200, height: 860 }
const PHONE = { width: 390, height: 844 }
/** How far down a section is scrolled that was at the lower end. */
const SECTION = 380

type Screen = {
  readonly name: string
  readonly path: string
  readonly size: typeof DESKTOP
  /** Shown when the page is complete. */
  readonly text: string
  readonly act?: (page: Page) => Promise<void>
}

const SCREENS: readonly Screen[] = [
  { name: 'links', path: '/links', size: DESKTOP, text: 'black-friday' },
  { name: 'analytics', path: '/analytics', size: DESKTOP, text: 'Germany', act: awaitLiveClicks },
  {
    name: 'new-link',
    path: '/links/new?url=https://example.com/shop&key=winter',
    size: DESKTOP,
    text: 'is free',
    act: (page) => page.locator('.qr .code svg').waitFor(),
  },
  {
    name: 'link',
    path: '/links?search=black-friday',
    size: DESKTOP,
    text: 'black-friday',
    async act(page) {
      await page.getByTitle('go.acme.localhost/black-friday').click()
      await page.getByText('Activity').waitFor()
      await page.locator('.qr .code svg').waitFor()
    },
  },
  {
    name: 'link-options',
    path: '/links?search=black-friday',
    size: TALL,
    text: 'black-friday',
    act: (page) => editLink(page, 'Limits and dates'),
  },
  {
    name: 'previews',
    path: '/links?search=black-friday',
    size: DESKTOP,
    text: 'black-friday',
    act: (page) => editLink(page, 'Preview when shared'),
  },
  { name: 'rules', path: '/links?search=app', size: DESKTOP, text: '/app', act: openRules },
  { name: 'explain', path: '/links?search=app', size: TALL, text: '/app', act: explain },
  { name: 'variants', path: '/links?search=app', size: DESKTOP, text: '/app', act: openVariants },
  { name: 'rule-sets', path: '/settings/rule-sets', size: DESKTOP, text: 'App stores' },
  { name: 'labels', path: '/settings/labels', size: DESKTOP, text: 'Count labels' },
  {
    name: 'domain-settings',
    path: '/domains',
    size: DESKTOP,
    text: '_terse.links',
    act: openDomainSettings,
  },
  { name: 'domains', path: '/domains', size: DESKTOP, text: '_terse.links' },
  { name: 'tags', path: '/tags', size: DESKTOP, text: 'newsletter' },
  { name: 'utm-templates', path: '/tags/utm-templates', size: DESKTOP, text: 'Instagram' },
  {
    name: 'palette',
    path: '/links',
    size: DESKTOP,
    text: 'black-friday',
    async act(page) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('autumn')
      await page.getByRole('group', { name: /^With / }).waitFor()
    },
  },
  { name: 'links-phone', path: '/links', size: PHONE, text: 'black-friday' },
  {
    name: 'analytics-phone',
    path: '/analytics',
    size: PHONE,
    text: 'Germany',
    act: awaitLiveClicks,
  },
  { name: 'rules-phone', path: '/links?search=app', size: PHONE, text: '/app', act: openRules },
]

export const SCREEN_NAMES: readonly string[] = SCREENS.map(({ name }) => name)

/** They come by a stream, whose end `settle` does not wait for. */
function awaitLiveClicks(page: Page): Promise<void> {
  return page.getByText('15:27:54').waitFor()
}

/** @param section of the form, in which the picture begins */
async function editLink(page: Page, section: string): Promise<void> {
  await page.getByTitle('go.acme.localhost/black-friday').click()
  await page.getByText('Activity').waitFor()
  await page.keyboard.press('e')
  await page.getByRole('heading', { name: 'Final URL' }).waitFor()
  await page.locator('.qr .code svg').waitFor()
  await page.getByRole('heading', { name: section }).scrollIntoViewIfNeeded()
  await page.mouse.wheel(0, SECTION)
}

async function openDomainSettings(page: Page): Promise<void> {
  const domain = page.getByRole('article').filter({ hasText: 'go.acme.localhost' })
  await domain.getByRole('button', { name: 'Details of go.acme.localhost' }).click()
  await domain.getByRole('button', { name: /^Settings/ }).click()
  await domain.getByLabel('Default rule set').waitFor()
  await page.mouse.wheel(0, SECTION)
}

async function toRules(page: Page): Promise<void> {
  await page.getByTitle('acme.localhost/app', { exact: true }).click()
  await page.getByRole('link', { name: 'Rules', exact: true }).click()
  await page.getByText('Where it leads').waitFor()
}

async function explain(page: Page): Promise<void> {
  await toRules(page)
  await page.getByLabel('Country').selectOption('AT')
  await page.getByLabel('Query').fill('size=m')
  await page.getByLabel('They scanned a QR code').check()
  await page.getByText('query of the visitor').waitFor()
}

async function openVariants(page: Page): Promise<void> {
  await page.getByTitle('acme.localhost/app', { exact: true }).click()
  await page.getByRole('link', { name: 'Open in Analytics' }).click()
  await page.getByText('The visitors are divided').scrollIntoViewIfNeeded()
  await page.mouse.wheel(0, SECTION / 2)
}

async function openRules(page: Page): Promise<void> {
  await toRules(page)
  await page.getByRole('button', { name: /^Poster: / }).click()
  await page.getByText('Even out').waitFor()
}

export type DemoScreens = {
  /** Returns a picture of a screen in light and one in dark, as PNG. */
  take(name: string): Promise<Readonly<Record<'light' | 'dark', Buffer>>>
  stop(): Promise<void>
}

/** Starts a service with the demo workspace. */
export async function openDemoScreens(browser: Browser): Promise<DemoScreens> {
  const clock = fakeClock(NOW_MS - DEMO_DAYS * 86_400_000)
  // The pending domain has no records, whatever the network of this machine is.
  const dns = await startDnsResponder(() => ({ rcode: NXDOMAIN }))
  // Nor does the disk of this machine matter.
  const settings = { ...DEMO_TARGET, TERSE_DNS_SERVERS: dns.address, TERSE_DISK_LOW_PERCENT: '0' }
  const service = await startService(SQLITE, settings, { clock })
  await fillDemo(service, clock)
  return {
    async take(name) {
      const screen = SCREENS.find((one) => one.name === name)
      if (screen === undefined) throw new Error(`there is no screen ${name}`)
      const opened = await open(browser, service, screen)
      try {
        return { light: await shoot(opened, 'light'), dark: await shoot(opened, 'dark') }
      } finally {
        await opened.close()
      }
    },
    async stop() {
      await service.stop()
      await dns.stop()
    },
  }
}

async function open(
  browser: Browser,
  service: Service,
  { path, size, text, act }: Screen,
): Promise<Dashboard> {
  const opened = await openDashboard(browser, service, path, { ...size, now: new Date(NOW_MS) })
  await opened.page.getByText(text).first().waitFor()
  await act?.(opened.page)
  return opened
}

async function shoot({ page }: Dashboard, colorScheme: 'light' | 'dark'): Promise<Buffer> {
  await page.emulateMedia({ colorScheme })
  await settle(page)
  await page.evaluate('document.fonts.ready')
  return page.screenshot({ animations: 'disabled' })
}
