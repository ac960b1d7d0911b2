import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { choicesOf, columnOptions, LEFT_OUT, withChoice } from './column-choices.ts'

const column = (name: string, field: string | null) => ({ name, field, samples: [] })
const COLUMNS = [
  column('Short', 'short_link'),
  column('Where to', null),
  column('Clicks', 'clicks'),
  column('Disabled', 'closed'),
  column('Blocked', 'closed'),
  column('', null),
]

describe('the choices of columns', () => {
  test('are what was recognized, until a person chooses', () => {
    assert.deepEqual(columnOptions({}, COLUMNS), {
      columns: { short_link: 'Short', clicks: 'Clicks', closed: 'Blocked' },
      ignored_columns: [],
    })
  })

  test('give a column a field, or leave it out, and come back as they were sent', () => {
    const named = withChoice({}, COLUMNS, column('Where to', null), 'url')
    const chosen = withChoice(named, COLUMNS, column('Clicks', 'clicks'), LEFT_OUT)
    const sent = columnOptions(chosen, COLUMNS)
    assert.deepEqual(sent, {
      columns: { short_link: 'Short', url: 'Where to', closed: 'Blocked' },
      ignored_columns: ['Clicks'],
    })
    assert.deepEqual(columnOptions(choicesOf(sent), COLUMNS), sent)
  })

  test('take a field from the column that had it, which then has none', () => {
    const moved = withChoice({}, COLUMNS, column('Where to', null), 'short_link')
    assert.deepEqual(columnOptions(moved, COLUMNS).columns['short_link'], 'Where to')
    assert.deepEqual(columnOptions(moved, COLUMNS).ignored_columns, ['Short'])
    const back = withChoice(moved, COLUMNS, column('Short', 'short_link'), 'short_link')
    assert.deepEqual(back['Where to'], '')
  })

  test('keep every recognized column that closes links', () => {
    const chosen = withChoice({}, COLUMNS, column('Where to', null), 'closed')
    assert.equal(columnOptions(chosen, COLUMNS).columns['closed'], 'Where to')
    assert.deepEqual([chosen['Disabled'], chosen['Blocked']], [undefined, undefined])
    assert.deepEqual(columnOptions(chosen, COLUMNS).ignored_columns, [])
  })
})
