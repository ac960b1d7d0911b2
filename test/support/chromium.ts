import { type Browser, chromium } from 'playwright-core'
import { findProgram, getProgram } from './programs.ts'

/**
 * Starts a real Chromium, with the options that it needs in a container.
 *
 * @param program by default the headless shell, where it is installed: it costs less, but spaces letters worse
 */
export async function launchChromium(
  program = findProgram('chromiumShell') ?? getProgram('chromium'),
): Promise<Browser> {
  return chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
