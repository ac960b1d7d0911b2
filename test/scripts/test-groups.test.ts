import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { GROUPS, groupFiles } from '../support/test-groups.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const filesOf = (patterns: readonly string[]) =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort()

describe('npm test', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  const [, pattern = ''] = /"(test\/\S+)"$/.exec(scripts.test) ?? []
  const alone = filesOf([pattern])
  const grouped = filesOf(Object.values(GROUPS).flatMap(({ patterns }) => patterns))

  test('runs each part of each group', () => {
    assert.deepEqual(readdirSync(path.join(ROOT, 'test/groups')).sort(), [...groupFiles()].sort())
    const run = alone.filter((file) => file.startsWith('test/groups/'))
    assert.equal(run.length, groupFiles().length)
  })

  test('runs each test file once: in a group, or in a process of its own', () => {
    const all = filesOf(['{src,test,web/src}/**/*.test.ts'])
    assert.deepEqual([...alone, ...grouped].sort(), all)
  })
})
