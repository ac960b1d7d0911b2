import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideExpired, parseRetention } from './retention.ts'

const at = (text: string) => ({ name: text, at: new Date(`${text}:00:00Z`) })
const expired = (instants: readonly string[], keep: string, kept: readonly string[] = []) => {
  const retention = parseRetention(keep)
  if (retention === undefined) throw new Error(`${keep} is not a retention`)
  return decideExpired(instants.map(at), retention, new Set(kept)).map(({ name }) => name)
}

describe('decideExpired', () => {
  test('keeps the last backup of each day', () => {
    const instants = ['2026-11-20T06', '2026-11-20T18', '2026-11-21T06', '2026-11-22T06']
    assert.deepEqual(expired(instants, '3d'), ['2026-11-20T06'])
  })

  test('counts days that have a backup, so that a pause removes nothing', () => {
    const instants = ['2026-01-01T06', '2026-06-01T06', '2026-11-22T06']
    assert.deepEqual(expired(instants, '3d'), [])
  })

  test('adds up days, weeks that begin on Monday, and months', () => {
    // 2026-11-22 is a Sunday.
    const instants = [
      '2026-10-01T06',
      '2026-11-14T06',
      '2026-11-16T06',
      '2026-11-21T06',
      '2026-11-22T06',
    ]
    assert.deepEqual(expired(instants, '1d,2w,2m'), ['2026-11-21T06', '2026-11-16T06'])
  })

  test('keeps the newest backup and those that are needed in any case', () => {
    const instants = ['2026-11-22T05', '2026-11-22T06', '2026-11-22T07']
    assert.deepEqual(expired(instants, '1m', ['2026-11-22T05']), ['2026-11-22T06'])
  })

  test('treats backups of the future as newest', () => {
    assert.deepEqual(expired(['2026-11-22T05', '2096-11-22T06'], '1d'), ['2026-11-22T05'])
  })
})

describe('parseRetention', () => {
  for (const text of ['', '14', '0d', '14d,,8w', '14d 8w', '99999d', '1y']) {
    test(`refuses "${text}"`, () => assert.equal(parseRetention(text), undefined))
  }
})
