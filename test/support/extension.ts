import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { buildExtension } from '../../scripts/build-extension.ts'
import { BROWSER_PATIENCE_MS } from './dashboard.ts'
import { createFolder } from './engines.ts'
import { eventually } from './eventually.ts'
import { openFirefox } from './firefox-driver.ts'
import type { PageDriver } from './page-driver.ts'
import { getProgram } from './programs.ts'

/** The built extension, loaded into a whole Chromium: the headless shell has no extensions. */
export type LoadedExtension = {
  readonly context: BrowserContext
  /** Opens the page of settings in a tab. */
  openOptions(): Promise<Page>
  /** Opens the popup over the active tab, as the button and the keys of the extension do. */
  openPopup(): Promise<Page>
  /** Runs an expression in the background of the extension. */
  inBackground(expression: string): Promise<unknown>
  close(): Promise<void>
}

/**
 * No driver can answer the question of the browser whether the extension may reach an address, nor click on its button,
 * which lends it the active tab. So the manifest of this copy has both from the beginning, for services and sites of
 * this machine.
 */
const LENT = ['http://localhost/*', 'http://127.0.0.1/*']

/** Builds the extension for a browser into a folder, with the rights that are lent, and returns its manifest. */
async function buildFor(browser: 'chromium' | 'firefox', folder: string) {
  const built = (await buildExtension(path.join(folder, 'dist')))[browser]
  const file = path.join(built, 'manifest.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...manifest, host_permissions: LENT }))
  return { built, manifest }
}

/** Starts Firefox with the extension, on its page of settings. */
export async function openInFirefox(): Promise<PageDriver> {
  await using started = new AsyncDisposableStack()
  const folder = createFolder()
  started.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  const { built, manifest } = await buildFor('firefox', folder)
  const { id } = manifest.browser_specific_settings.gecko
  const addOn = { folder: built, id, host: randomUUID() }
  const driver = await openFirefox({ width: 700, height: 600, isTouched: false }, addOn)
  const own = started.move()
  async function close() {
    await driver.close()
    await own.disposeAsync()
  }
  return { ...driver, close }
}

export async function loadExtension(): Promise<LoadedExtension> {
  await using started = new AsyncDisposableStack()
  const folder = createFolder()
  started.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  const { built } = await buildFor('chromium', folder)
  const profile = path.join(folder, 'profile')
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: getProgram('chromium'),
    // The headless mode of Playwright is the shell.
    headless: false,
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [
      ...['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--lang=en-GB'],
      ...[`--disable-extensions-except=${built}`, `--load-extension=${built}`],
      '--remote-debugging-port=0',
    ],

    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  started.defer(() => context.close())
  context.setDefaultTimeout(BROWSER_PATIENCE_MS)
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))
  const [port] = readFileSync(path.join(profile, 'DevToolsActivePort'), 'utf8').split('\n')
  const origin = worker.url().replace('/background.js', '')
  // Once installed it opens its settings in an empty tab, which must not be one of a test.
  await eventually(async () => {
    const addresses = context.pages().map((page) => page.url())
    assert.ok(addresses.includes(`${origin}/options.html`), addresses.join())
  })
  const inBackground = (expression: string): Promise<unknown> => worker.evaluate(expression)
  const own = started.move()
  return {
    context,
    inBackground,
    async openOptions() {
      const page = await context.newPage()
      await page.goto(`${origin}/options.html`)
      return page
    },
    async openPopup() {
      await inBackground('chrome.action.openPopup()')
      // The driver that has started the browser does not see popups; one that comes later does.
      const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`)
      return eventually(async () => {
        const pages = browser.contexts().flatMap((each) => each.pages())
        const popup = pages.find((page) => page.url() === `${origin}/popup.html`)
        if (popup === undefined) throw new Error('there is no popup')
        popup.once('close', () => void browser.close())
        return popup
      })
    },
    close: () => own.disposeAsync(),
  }
}
