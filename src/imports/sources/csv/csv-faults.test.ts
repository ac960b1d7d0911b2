import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CsvOptions, openCsvText, PLAIN } from '../../../../test/support/csv-source.ts'
import { readRecords, readSorted } from '../../../../test/support/import-sources.ts'
import { ImportSourceFault } from '../../import-source.ts'

const faultOf = (message: RegExp) => (error: unknown) =>
  error instanceof ImportSourceFault && message.test(error.message)

describe('a row of a CSV file', () => {
  const CASES: { name: string; row: string; reason: RegExp }[] = [
    { name: 'has too few columns', row: 'x', reason: /1 columns, and the header 3/ },
    { name: 'has too many columns', row: 'x,https://example.com/,,more', reason: /4 columns/ },
    { name: 'has no key', row: ',https://example.com/,', reason: /no key/ },
    { name: 'has no destination', row: 'x,,', reason: /no destination/ },
    // It would never expire.
    { name: 'expires at no date', row: 'x,https://example.com/,soon', reason: /"soon" is no date/ },
    {
      name: 'expires on one of two days',
      row: 'x,https://example.com/,03/04/2030',
      reason: /two days/,
    },
  ]
  for (const { name, row, reason } of CASES)
    test(`is refused when it ${name}`, async (t) => {
      const good = 'a,https://example.com/,2030-01-01'
      const { links, refused } = await readSorted(
        openCsvText(t, `key,url,expires\n${good}\n${row}\n${good}\n`),
      )
      assert.equal(links.length, 2)
      assert.deepEqual(
        refused.map(({ place }) => place),
        ['line 3'],
      )
      assert.match(refused[0]?.reason ?? '', reason)
      assert.equal(refused[0]?.row, row)
    })

  test('is shown without its password', async (t) => {
    const content = 'key,url,password\n,https://example.com/,s3cret\na,s3cret\n'
    const { refused } = await readSorted(openCsvText(t, content))
    assert.deepEqual(
      refused.map(({ row }) => row),
      [',https://example.com/,…', 'Not shown: it may hold a password.'],
    )
  })

  test('is refused when it is not in UTF-8', async (t) => {
    const { links, refused } = await readSorted(
      openCsvText(
        t,
        Buffer.from('key,url\ngrüße,https://example.com/\nb,https://example.com/\n', 'latin1'),
      ),
    )
    assert.deepEqual(
      links.map(({ key }) => key),
      ['b'],
    )
    assert.match(refused[0]?.reason ?? '', /UTF-8/)
  })

  test('is refused when its short link is none', async (t) => {
    const { refused } = await readSorted(
      openCsvText(t, 'short link,url\nabc,https://example.com/\n'),
    )
    assert.match(refused[0]?.reason ?? '', /"abc" is no short link/)
  })

  test('is named by its line, in spite of line breaks in quotes', async (t) => {
    const { links } = await readSorted(
      openCsvText(t, 'key,url,note\na,https://example.com/,"x\ny"\n\nb,https://example.com/,\n'),
    )
    assert.deepEqual(
      links.map(({ place }) => place),
      ['line 3', 'line 5'],
    )
  })
})

describe('a CSV file that cannot be read', () => {
  const CASES: { name: string; content: string; options?: CsvOptions; message: RegExp }[] = [
    {
      name: 'has no column for the key',
      content: 'Ziel,url\nx,y\n',
      message: /key or short link.*--map key=.*"Ziel", "url"/,
    },
    {
      name: 'has no column for the destination',
      content: 'key,Ziel\nx,y\n',
      message: /destination.*--map url=.*"key", "Ziel"/,
    },
    {
      name: 'lacks a column that is named',
      content: PLAIN,
      options: { map: { tags: 'Labels' } },
      message: /no column "Labels".*"key", "url"/,
    },
    {
      name: 'has one column for two fields',
      content: 'url,Ziel\nx,y\n',
      options: { map: { key: 'url' } },
      message: /No column has the destination/,
    },
    {
      name: 'is read with an unknown field',
      content: PLAIN,
      options: { map: { keys: 'key' } },
      message: /no field keys.*short_link/,
    },
    {
      name: 'has a column twice that is named',
      content: 'key,url,a,a\n',
      options: { map: { tags: 'a' } },
      message: /Several columns/,
    },
    {
      name: 'never closes a quote',
      content: 'key,url\na,"https://example.com/\nb,c\n',
      message: /quote before line \d+ is never closed/,
    },
    {
      name: 'has a row without an end',
      content: `key,url\na,"${'x\n'.repeat(600_000)}`,
      message: /longer than 1 MiB/,
    },
    { name: 'is empty', content: '', message: /empty/ },
    { name: 'has no lines', content: '\n\n', message: /no header/ },
    {
      name: 'is no export of Dub',
      content: PLAIN,
      options: { kind: 'dub-csv' },
      message: /no column "Short link"/,
    },
  ]
  for (const { name, content, options, message } of CASES)
    test(`throws when it ${name}`, (t) =>
      assert.rejects(async () => readRecords(openCsvText(t, content, options)), faultOf(message)))

  test('throws for a time zone that does not exist', (t) => {
    assert.throws(() => openCsvText(t, PLAIN, { timeZone: 'Mars/Base' }), faultOf(/time zone/))
  })
})
