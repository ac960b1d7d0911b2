import { type Browser, chromium } from 'playwright-core'
import { findProgram, getProgram } from './programs.ts'

/** Starts a real Chromium, with the options that it needs in a container. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram('chromiumShell') ?? getProgram('chromium'),
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
