import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCsv } from './csv.ts'

test('quotes cells, and lets no text become a formula', () => {
  const rows = [
    ['referrer', 'clicks'],
    [null, 3],
    ['a "b", c', -1],
    ['=HYPERLINK("x")', 0],
    ['@sum', 1],
  ]
  assert.equal(
    formatCsv(rows),
    'referrer,clicks\r\n,3\r\n"a ""b"", c",-1\r\n"\'=HYPERLINK(""x"")",0\r\n\'@sum,1\r\n',
  )
})
