import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import pixelmatch from 'pixelmatch'
import type { Browser } from 'playwright-core'
import { PNG } from 'pngjs'
import { type DemoScreens, openDemoScreens, SCREEN_NAMES } from '../../scripts/demo/demo-screens.ts'
import { launchChromium } from '../support/chromium.ts'
import { isLongForm } from '../support/long-form.ts'
import { getProgram, skipWithout } from '../support/programs.ts'

/**
 * The part of the pixels that may differ: identifiers and a secret of the domain are new each time, and
 * another release of Chromium smooths letters in another way.
 */
const DIFFERENCE_MAX = 0.015
/** How different a pixel's colour must be to count, from 0 to 1. */
const THRESHOLD = 0.2

function differenceOf(picture: Buffer, name: string): number {
  const expected = PNG.sync.read(
    readFileSync(new URL(`../../docs/pictures/${name}.png`, import.meta.url)),
  )
  const actual = PNG.sync.read(picture)
  const { width, height } = expected
  assert.deepEqual([actual.width, actual.height], [width, height], name)
  const differing = pixelmatch(expected.data, actual.data, undefined, width, height, {
    threshold: THRESHOLD,
  })
  return differing / (width * height)
}

describe('the key screens', {
  skip: isLongForm ? skipWithout('chromium') : 'takes a minute: in the long form',
}, () => {
  let browser: Browser
  let screens: DemoScreens
  before(async () => {
    // The headless shell spaces letters in another way.
    browser = await launchChromium(getProgram('chromium'))
    screens = await openDemoScreens(browser)
  })
  after(async () => {
    await browser.close()
    await screens.stop()
  })

  for (const name of SCREEN_NAMES) {
    test(`${name} looks as in its pictures, in light and dark`, async () => {
      for (const [theme, picture] of Object.entries(await screens.take(name))) {
        const difference = differenceOf(picture, `${name}-${theme}`)
        assert.ok(
          difference <= DIFFERENCE_MAX,
          `${(difference * 100).toFixed(2)} % of ${name}-${theme} differ; if that is wanted: npm run demo:screenshots`,
        )
      }
    })
  }
})
