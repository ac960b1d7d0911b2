import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the files that the runner would run, in their order. */
function list(...words: string[]): { files: string[]; code: number | null; stderr: string } {
  const args = ['scripts/test.ts', '--list', ...words]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const files = stdout.split(/\s/).filter((word) => word.endsWith('.test.ts'))
  return { files, code: status, stderr }
}

describe('npm test', () => {
  test('runs each test file once', () => {
    const every = globSync('{src,test,web/src,extension/src}/**/*.test.ts', { cwd: ROOT })
    const needsClickhouse = (file: string) => file.startsWith('test/clickhouse/')
    assert.deepEqual(list().files.sort(), every.filter((file) => !needsClickhouse(file)).sort())
    const { files } = list('--clickhouse')
    assert.deepEqual(files.filter(needsClickhouse).sort(), every.filter(needsClickhouse).sort())
  })

  test('runs the unit tests and the tests of the API for a noun, without browsers', () => {
    const { files } = list('links')
    assert.ok(files.includes('src/links/key.test.ts'))
    assert.ok(files.includes('test/http/links-create.test.ts'))
    assert.ok(!files.some((file) => file.startsWith('test/browser/')))
  })

  test('runs a single file', () => {
    assert.deepEqual(list('src/links/key.test.ts').files, ['src/links/key.test.ts'])
  })

  test('reports a word that selects nothing', () => {
    const { code, stderr } = list('nonsense')
    assert.equal(code, 1)
    assert.match(stderr, /^no test file has "nonsense" in its path$/m)
  })
})
