import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import {
  releaseChangelog,
  requireLaterVersion,
  VERSIONED_FILES,
  withVersion,
} from '../../scripts/package/release-version.ts'
import { VERSION } from '../../src/platform/process/version.ts'

const NEXT = '90.1.2'
const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

describe('the preparation of a release', () => {
  test('changes the version in every file that names it, and nothing else', () => {
    for (const name of VERSIONED_FILES) {
      const text = read(name)
      const changed = withVersion(name, text, VERSION, NEXT)
      assert.ok(changed.includes(NEXT), name)
      assert.equal(withVersion(name, changed, NEXT, VERSION), text, name)
    }
  })

  test('refuses what is no later version', () => {
    for (const next of ['', '1.0', 'v1.0.0', '1.2.3', '1.1.9', '0.9.9']) {
      assert.throws(() => requireLaterVersion(next, '1.2.3'), /version|later/, next)
    }
    for (const next of ['1.2.4', '1.10.0', '2.0.0']) requireLaterVersion(next, '1.2.3')
  })

  test('puts the unreleased changes under the version, and refuses when there are none', () => {
    const text = '# Changelog\n\n## Unreleased\n\n- A change.\n\n## 0.1.0\n'
    const released = releaseChangelog(text, '0.2.0', '2026-12-01')
    assert.match(
      released,
      /^## Unreleased\n\n## 0\.2\.0 \(2026-12-01\)\n\n- A change\.\n\n## 0\.1\.0$/m,
    )
    assert.throws(() => releaseChangelog(released, '0.3.0', '2026-12-02'), /no changes/)
  })
})
