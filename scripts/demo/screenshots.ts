import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { openDashboard } from '../../test/support/dashboard.ts'
import { SQLITE } from '../../test/support/engines.ts'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { getProgram } from '../../test/support/programs.ts'
import { startService } from '../../test/support/service.ts'
import { DEMO_DAYS, fillDemo } from './fill-demo.ts'

// Makes the pictures of the README and of docs/ from the demo workspace, at a fixed time.

const NOW_MS = Date.UTC(2026, 10, 20, 14, 30)
const WIDTH = 1_200
const HEIGHT = 640
const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

type Screen = {
  readonly name: string
  readonly path: string
  readonly width?: number
  readonly height?: number
  /** Shown when the page is complete. */
  readonly text: string
  readonly act?: (page: Page) => Promise<void>
}

const SCREENS: readonly Screen[] = [
  { name: 'links', path: '/links', text: 'black-friday' },
  { name: 'analytics', path: '/analytics', text: 'Germany' },
  {
    name: 'new-link',
    path: '/links/new?url=https://example.com/shop&key=winter',
    text: 'is free',
    act: (page) => page.locator('.qr .code svg').waitFor(),
  },
  {
    name: 'link',
    path: '/links?search=black-friday',
    text: 'black-friday',
    async act(page) {
      await page.getByTitle('go.acme.localhost/black-friday').click()
      await page.getByText('Activity').waitFor()
      await page.locator('.qr .code svg').waitFor()
    },
  },
  { name: 'domains', path: '/domains', text: '_terse.links' },
  { name: 'tags', path: '/tags', text: 'newsletter' },
  { name: 'utm-templates', path: '/tags/utm-templates', text: 'Instagram' },
  {
    name: 'palette',
    path: '/links',
    text: 'black-friday',
    async act(page) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('autumn')
      await page.getByRole('group', { name: /^With / }).waitFor()
    },
  },
  { name: 'links-phone', path: '/links', width: 390, height: 844, text: 'black-friday' },
  { name: 'analytics-phone', path: '/analytics', width: 390, height: 844, text: 'Germany' },
]

mkdirSync(FOLDER, { recursive: true })
const clock = fakeClock(NOW_MS - DEMO_DAYS * 86_400_000)
const browser = await launchChromium(getProgram('chromium'))
const service = await startService(SQLITE, {}, { clock })
try {
  await fillDemo(service, clock)
  for (const screen of SCREENS) {
    for (const theme of ['light', 'dark'] as const) await take(screen, theme)
  }
} finally {
  await browser.close()
  await service.stop()
}

async function take({ name, path, text, act, ...size }: Screen, theme: 'light' | 'dark') {
  const { page, close } = await openDashboard(browser, service, path, {
    width: WIDTH,
    height: HEIGHT,
    ...size,
    theme,
    now: new Date(NOW_MS),
  })
  await page.getByText(text).first().waitFor()
  await act?.(page)
  // The live view holds a stream open, so the network is never idle.
  await page.locator('.sk').first().waitFor({ state: 'detached' })
  await page.evaluate('document.fonts.ready')
  await page.screenshot({ path: `${FOLDER}${name}-${theme}.png`, animations: 'disabled' })
  await close()
}
