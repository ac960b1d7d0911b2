import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Shares } from '../../src/lib/shares.ts'

describe('Shares', () => {
  test('lets a caller have so much under way, and others as much beside it', async () => {
    const shares = new Shares(2)
    const ends: (() => void)[] = []
    const work = () => new Promise<void>((resolve) => ends.push(resolve))
    const first = shares.run('a', work)
    const second = shares.run('a', work)
    assert.equal(shares.run('a', work), undefined)
    assert.ok(shares.run('b', work))
    ends[0]?.()
    await first
    assert.ok(shares.run('a', work), 'what has ended makes room')
    assert.equal(shares.run('a', work), undefined)
    for (const end of ends) end()
    await second
  })

  test('makes room after a failure too', async () => {
    const shares = new Shares(1)
    await assert.rejects(
      shares.run('a', () => Promise.reject(new Error('no'))) ?? Promise.resolve(),
    )
    assert.equal(await shares.run('a', async () => 'yes'), 'yes')
  })
})
