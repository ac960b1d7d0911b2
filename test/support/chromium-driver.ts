import { launchChromium } from './chromium.ts'
import type { PageDriver, PageOptions } from './page-driver.ts'

/** Starts a real Chromium with one page. */
export async function openChromium({ width, height, isTouched }: PageOptions): Promise<PageDriver> {
  const browser = await launchChromium()
  const context = await browser.newContext({
    viewport: { width, height },
    isMobile: isTouched,
    hasTouch: isTouched,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  })
  const page = await context.newPage()
  return {
    open: async (url) => {
      await page.goto(url)
    },
    evaluate: (expression) => page.evaluate(expression),
    press: (...keys) => page.keyboard.press(keys.join('+')),
    type: (text) => page.keyboard.type(text),
    tap: ({ x, y }) => page.touchscreen.tap(x, y),
    screenshot: () => page.screenshot(),
    close: () => browser.close(),
  }
}
