import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CsvOptions, openCsvText, PLAIN } from '../../../test/support/csv-source.ts'
import { readRecords, readSorted } from '../../../test/support/import-sources.ts'
import { ImportSourceFault } from '../import-source.ts'

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

  test('is refused when its short link is not a link', async (t) => {
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

describe('a CSV file with a value that is too long', () => {
  const LONG_MIB = 10
  const long = 'x'.repeat(LONG_MIB * 1024 * 1024)
  const CASES: readonly (readonly [what: string, value: string, lines: number])[] = [
    ['plain', long, 1],
    ['in quotes', `"${long}"`, 1],
    ['in quotes with quotes, separators and line ends', `"${long}"",""\r\n\n${long}"`, 3],
  ]
  for (const [what, value, lines] of CASES)
    test(`refuses the row of one that is ${what}, and reads the others`, async (t) => {
      const row = (key: string, note = '') => `${key},https://example.com/${key},${note}`
      const content = `key,url,note\n${[row('a'), row('b', value), row('c'), row('d')].join('\n')}\n`
      const { links, refused } = await readSorted(openCsvText(t, content))
      assert.deepEqual(
        links.map(({ key, place }) => [key, place]),
        [
          ['a', 'line 2'],
          ['c', `line ${3 + lines}`],
          ['d', `line ${4 + lines}`],
        ],
      )
      assert.deepEqual(
        refused.map(({ reason }) => reason),
        ['It is longer than 1 MiB.'],
      )
    })

  test('refuses the last row, without a line end', async (t) => {
    const { links, refused } = await readSorted(openCsvText(t, `${PLAIN}c,${long}`))
    assert.deepEqual([links.length, refused.length], [2, 1])
  })

  test('throws for a header that is one', (t) =>
    assert.rejects(async () => readRecords(openCsvText(t, long)), faultOf(/no header/)))
})

test('a CSV file that is incomplete gives all rows before the one in which it ends', async (t) => {
  const rows = Array.from({ length: 20_000 }, (_, at) => `k${at},"https://example.com/${at}"\n`)
  const source = openCsvText(t, `key,url\n${rows.join('')}last,"https://exam`)
  const keys: string[] = []
  const reading = async () => {
    const { signal } = new AbortController()
    for await (const record of source.read({ resume: undefined, signal }))
      if (record.kind === 'link') keys.push(record.key)
  }
  await assert.rejects(reading, faultOf(/quote in line 20002 is never closed/))
  assert.equal(keys.length, 20_000)
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
      message: /ends within quotes: a quote in line 2 is never closed/,
    },
    {
      name: 'has a row without an end',
      content: `key,url\na,"${'x\n'.repeat(600_000)}`,
      message: /ends within quotes: a quote in line 2 is never closed/,
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
