import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'

/** Creates a folder that is removed after the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
