import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { installClickhouseEngine } from '../support/clickhouse/engine.ts'
import { createFolder } from '../support/engines.ts'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'

/** Writes a part of a package, then does what is given. */
const npm = (then: string) => `#!/bin/sh
echo called >> "$CALLS"
mkdir -p node_modules/@chdb/lib-linux-x64-gnu
echo half > node_modules/@chdb/lib-linux-x64-gnu/index.js
${then}
`

/** A cache of its own, and an npm that does what is given. */
function fakeNpm(t: TestContext, then: string) {
  const folder = createFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const cache = path.join(folder, 'cache', 'terse-tests')
  mkdirSync(cache, { recursive: true })
  const calls = path.join(folder, 'calls')
  writeFileSync(path.join(folder, 'npm'), npm(then), { mode: 0o755 })
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    XDG_CACHE_HOME: path.dirname(cache),
    CALLS: calls,
  }
  return { cache, env, calls: () => readFileSync(calls, 'utf8').trim().split('\n').length }
}

describe('installing the engine of ClickHouse', () => {
  test('leaves nothing of a download that was cut, three times', (t) => {
    const { cache, env, calls } = fakeNpm(t, 'echo "npm error code EINTEGRITY" >&2; exit 1')
    assert.throws(
      () => installClickhouseEngine(env),
      ({ message, cause }: Error) => {
        assert.match(message, /could not be installed/)
        assert.match(String(cause), /EINTEGRITY/)
        return true
      },
    )
    assert.equal(calls(), 3)
    assert.deepEqual(readdirSync(cache), [])
  })

  test('uses what a later try has installed, and removes what a killed installation has left', (t) => {
    const { cache, env, calls } = fakeNpm(t, '[ $(wc -l < "$CALLS") -ge 2 ]')
    const left = path.join(cache, 'partial-left')
    mkdirSync(left)
    utimesSync(left, 1, 1)
    mkdirSync(path.join(cache, 'partial-of-another-run'))
    const module = installClickhouseEngine(env)
    assert.equal(readFileSync(module, 'utf8'), 'half\n')
    assert.equal(installClickhouseEngine(env), module)
    assert.equal(calls(), 2)
    const [engine, other, ...others] = readdirSync(cache)
    assert.match(engine ?? '', /^chdb-/)
    assert.deepEqual([other, ...others], ['partial-of-another-run'])
  })

  test('reports a disk that has no room for it, without a download', {
    skip: skipWithoutMount(),
  }, (t) => {
    const { cache, env } = fakeNpm(t, 'exit 0')
    mountTmpfs(cache, 'size=4m')
    try {
      assert.throws(
        () => installClickhouseEngine(env),
        /needs 1000 MB in .*partial-.*, which has 4 MB/,
      )
      assert.deepEqual(readdirSync(cache), [])
    } finally {
      unmount(cache)
    }
    assert.throws(() => readFileSync(env.CALLS), { code: 'ENOENT' })
  })
})
