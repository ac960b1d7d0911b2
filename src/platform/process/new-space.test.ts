import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, test } from 'node:test'

/** Prints the smallest size of the space of new objects, in MiB, of a process that makes and keeps many. */
const LOAD = `
  const v8 = require('node:v8')
  v8.setFlagsFromString('--semi-space-growth-factor=1')
  const sizeOf = () => v8.getHeapSpaceStatistics().find((one) => one.space_name === 'new_space').space_size
  const kept = []
  let size = Infinity
  let turns = 0
  function turn() {
    for (let made = 0; made < 8000; made += 1) kept[(turns * 8000 + made) % 50000] = { made, rest: [made] }
    turns += 1
    // During a collection the space is larger for a moment, and at first it is not full yet.
    if (turns > 200) size = Math.min(size, sizeOf())
    if (turns < 400) return setImmediate(turn)
    console.log(size / 2 ** 20)
  }`

function sizeUnderLoad(before: string): number {
  const script = `(async () => { ${LOAD}; ${before}; turn() })()`
  const args = ['--eval', script]
  return Number(
    execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' }),
  )
}

describe('growNewSpace', () => {
  test('lets the space of new objects grow, and not for long', () => {
    const begun = sizeUnderLoad('')
    const grown = sizeUnderLoad("(await import('./new-space.ts')).growNewSpace()")
    // Without an end it is 53 here. The growth ends with a turn, in which it may have been doubled more than once.
    assert.ok(begun < 2.5 && grown > 2.5 && grown < 30, `${begun} ${grown}`)
  })
})
