import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Import, ImportCounts } from '../import.ts'
import { summaryOf } from './progress.ts'

describe('summaryOf', () => {
  const of = (counts: Partial<ImportCounts>) => ({ counts, is_dry_run: 0 }) as unknown as Import

  test('leaves out what is zero, and names the domains whose links do not work', () => {
    const text = summaryOf(of({ created: 1_200, skipped: 0 }), ['go.example', 's.example'])
    assert.equal(
      text,
      `    1,200  links created

Links on these domains do not work until DNS proves them; terse domain check says what is missing:
  go.example
  s.example`,
    )
  })

  test('says nothing of domains where all are proved', () => {
    assert.equal(summaryOf(of({}), []), 'There was nothing to import.')
  })
})
