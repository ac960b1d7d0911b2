import { globSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BESIDE_SOURCES = ['src/**/*.test.ts', 'web/src/**/*.test.ts']

/**
 * Runs one half of the unit tests in this process: every second file, from the first or from the second on. Most take a
 * few milliseconds; starting a process for each would take longer than the tests.
 */
export function runUnitTests(half: 0 | 1): void {
  // `npm run test:unit` has no global set-up, which does this for other test files.
  enableCompileCache(path.join(ROOT, 'node_modules/.cache/terse'))
  const files = BESIDE_SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort()
  const loading = load(files.filter((_, index) => index % 2 === half))
  // Tests run one after the other: without this one, the first would run while other files are loaded.
  test('the unit tests are loaded', () => loading)
}

async function load(files: readonly string[]): Promise<void> {
  for (const file of files) await import(pathToFileURL(path.join(ROOT, file)).href)
}
