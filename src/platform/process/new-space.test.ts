import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

const MEBIBYTE = 1_024 * 1_024

/** The size of half of the space of new objects of another process, after `calls` and many objects, some of which live on. */
async function bytesAfter(calls: string): Promise<number> {
  const script = `
    import v8 from 'node:v8'
    import { NewSpace } from '${new URL('./new-space.ts', import.meta.url)}'
    v8.setFlagsFromString('--semi-space-growth-factor=1')
    const newSpace = new NewSpace()
    ${calls}
    const kept = []
    for (let turn = 0; turn < 30; turn += 1) {
      for (let nth = 0; nth < 20_000; nth += 1) kept[nth] = { values: [turn, nth] }
      await new Promise(setImmediate)
    }
    const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    console.log(space.space_used_size + space.space_available_size)
  `
  const args = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}

describe('NewSpace', () => {
  // V8 may exceed what it was set to, so only the growth is certain.
  test('lets it grow for a process that serves', async () => {
    const bytes = await bytesAfter('newSpace.growToServe()')
    assert.ok(bytes > 3 * MEBIBYTE, `${bytes}`)
  })

  test('lets it grow further while many API requests come', async () => {
    const bytes = await bytesAfter(`
      newSpace.growToServe()
      setInterval(() => { for (let nth = 0; nth < 200; nth += 1) newSpace.noteApiRequest() }, 1).unref()
    `)
    assert.ok(bytes > 12 * MEBIBYTE, `${bytes}`)
  })
})
