import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { settle } from './settled.ts'

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
/** The rules whose result depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']
const WIDTHS = [1_280, 360]

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] }

/**
 * The rules of axe that a page violates, with the elements.
 *
 * axe runs within the page: its package for Playwright loads it again for each run, and opens another page
 * to put the results of frames together. No page of the service has frames. It runs once the page has settled:
 * what is being loaded is shown faded, with too little contrast.
 *
 * @param rules all when left out
 */
export async function violationsOf(
  page: Page,
  rules?: readonly string[],
): Promise<readonly string[]> {
  await settle(page)
  assert.equal(page.frames().length, 1, 'axe sees only the frame that it runs in')
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE)
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  const violations = (await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )) as readonly Violation[]
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`)
}

/** Expects that a page is accessible and not wider than its window, light and dark, on a desktop and a phone. */
export async function expectAccessible(page: Page): Promise<void> {
  const before = page.viewportSize()
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    await expectFit(page)
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    const look = `${page.url()}, dark, ${width} px`
    assert.deepEqual(await violationsOf(page, COLOUR_RULES), [], look)
  }
  if (before !== null) await page.setViewportSize(before)
}

/** As `expectAccessible`, in the look that the page has. */
export async function expectFit(page: Page): Promise<void> {
  const look = `${page.url()}, ${page.viewportSize()?.width} px`
  assert.deepEqual(await violationsOf(page), [], look)
  await expectNoSidewaysScroll(page)
}

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await settle(page)
  const look = `${page.url()}, ${page.viewportSize()?.width} px`
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  assert.ok(Number(overflow) <= 0, `${look}: ${overflow} px too wide`)
}
