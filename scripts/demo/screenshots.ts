import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launchChromium } from '../../test/support/chromium.ts'
import { getProgram } from '../../test/support/programs.ts'
import { openDemoScreens, SCREEN_NAMES } from './demo-screens.ts'

// Makes the pictures of the README and of docs/, with which a test compares the dashboard.

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

mkdirSync(FOLDER, { recursive: true })
const browser = await launchChromium(getProgram('chromium'))
const screens = await openDemoScreens(browser)
try {
  for (const name of SCREEN_NAMES) {
    for (const [theme, picture] of Object.entries(await screens.take(name))) {
      writeFileSync(`${FOLDER}${name}-${theme}.png`, picture)
    }
  }
} finally {
  await browser.close()
  await screens.stop()
}
