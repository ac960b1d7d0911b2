import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { timesOfWrite } from './managed.ts'

const APPLIED = { updated_at: 5, managed_at: 5 }
const EDITED = { updated_at: 7, managed_at: 5 }

describe('the instants of a write', () => {
  for (const [name, before, write, after] of [
    ['marks what is new', undefined, { managed_by: 'a' }, [9, 9]],
    ['leaves what is new without a mark', undefined, { managed_by: null }, [9, null]],
    ['marks what had no mark', { updated_at: 5, managed_at: null }, { managed_by: 'a' }, [9, 9]],
    ['renews the mark with a change', EDITED, { managed_by: 'a' }, [9, 9]],
    ['takes the mark away', APPLIED, { managed_by: null }, [9, null]],
    ['keeps the mark of a change that does not name it', APPLIED, { isNamed: false }, [9, 5]],
    ['renews the mark without a change', EDITED, { isChanged: false }, [7, 7]],
    ['leaves the mark without a change', APPLIED, { isChanged: false }, [5, 5]],
    ['rises though nothing changes', APPLIED, { isNamed: false, isChanged: false }, [9, 5]],
    ['rises though the clock does not', APPLIED, { nowMicros: 5 }, [6, 6]],
  ] as const) {
    test(name, () => {
      const usual = { managed_by: 'a', isNamed: true, isChanged: true, nowMicros: 9 }
      const { updated_at, managed_at } = timesOfWrite(before, { ...usual, ...write })
      assert.deepEqual([updated_at, managed_at], after)
    })
  }
})
