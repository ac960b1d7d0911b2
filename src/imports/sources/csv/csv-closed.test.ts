import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openCsvText } from '../../../../test/support/csv-source.ts'
import { readRecords, readSorted } from '../../../../test/support/import-sources.ts'
import { ImportSourceFault } from '../../import-source.ts'

const file = (header: string, value: string) =>
  `key,url,${header}\na,https://example.com/,${value}\nb,https://example.com/,${value}\n`

describe('a link that is closed in a CSV file', () => {
  const CASES: { header: string; closed: readonly string[]; open: readonly string[] }[] = [
    { header: 'Disabled', closed: ['yes', 'true', '1', 'x'], open: ['no', 'false', '0', ''] },
    { header: 'Inactive', closed: ['yes'], open: ['no'] },
    { header: 'Blocked', closed: ['true', '2026-01-01'], open: ['false'] },
    { header: 'Active', closed: ['false', 'no', '0', 'off'], open: ['true', 'Yes', '1', ''] },
    { header: 'Enabled', closed: ['no'], open: ['yes'] },
    {
      header: 'Status',
      closed: ['disabled', 'Expired', 'blocked', 'geschlossen'],
      open: ['active', 'Enabled', '301', ''],
    },
    { header: 'State', closed: ['expired'], open: ['live'] },
    { header: 'Valid since', closed: ['2999-01-01', 'soon'], open: ['2020-01-01', ''] },
    { header: 'Max visits', closed: ['0012', 'many'], open: ['13', '0', 'unlimited', ''] },
  ]
  for (const { header, closed, open } of CASES)
    for (const value of [...closed, ...open])
      test(`${header} "${value}" ${open.includes(value) ? 'redirects' : 'is closed'}`, async (t) => {
        const content = `key,url,clicks,${header}\na,https://example.com/,12,${value}\n`
        const { links, refused } = await readSorted(openCsvText(t, content))
        assert.deepEqual(refused, [])
        assert.equal(links[0]?.closed === null, open.includes(value), links[0]?.closed ?? 'open')
      })

  for (const header of ['Expired at', 'Valid till', 'Valid until', 'Active until', 'Ends at'])
    test(`expires as "${header}" says`, async (t) => {
      const { links } = await readSorted(openCsvText(t, file(header, '2024-05-01T00:00:00Z')))
      assert.equal(links[0]?.expires_at, Date.parse('2024-05-01T00:00:00Z') * 1_000)
    })

  for (const [header, value, kind] of [
    ['PIN', '1234', 'password'],
    ['Passcode', 'abc', 'password'],
    ['Is password protected', 'yes', 'unknown password'],
    ['Is password protected', 'no', 'none'],
  ] as const)
    test(`${header} "${value}" gives ${kind}`, async (t) => {
      const { links } = await readSorted(openCsvText(t, file(header, value)))
      assert.equal(links[0]?.protection.kind, kind)
    })

  test('is closed when one of several columns says so', async (t) => {
    const content = [
      'key,url,Disabled,Banned,Active,Status',
      'a,https://example.com/,no,yes,yes,active',
      'b,https://example.com/,no,no,yes,active',
    ].join('\n')
    const { links } = await readSorted(openCsvText(t, content))
    assert.deepEqual(
      links.map(({ closed }) => closed),
      ['The column "Banned" is "yes".', null],
    )
  })

  test('keeps a limit of visits as a note', async (t) => {
    const { links } = await readSorted(openCsvText(t, file('Max clicks', '5')))
    assert.deepEqual(links[0]?.notes, ['It has a limit of 5 visits, which Terse does not have.'])
    assert.deepEqual(links[0]?.rest, { max_visits: '5' })
  })
})

describe('a column of a CSV file that is not recognized', () => {
  const DOUBTFUL: readonly (readonly [header: string, value: string])[] = [
    ['Is active?!2', 'no'],
    ['Link validity', '30 days'],
    ['Visibility', 'team'],
    ['Quarantined', '2026-01-01'],
    ['Archived', 'yes'],
    ['Zustand', 'Disabled'],
    ['Note', 'expired'],
  ]
  for (const [header, value] of DOUBTFUL)
    test(`ends the import: "${header}" with "${value}"`, async (t) => {
      await assert.rejects(
        async () => readRecords(openCsvText(t, file(header, value))),
        (error: unknown) =>
          error instanceof ImportSourceFault &&
          !error.isTransient &&
          error.message.includes(`"${header}" (such as "${value}")`) &&
          error.message.includes(`--ignore-column "${header}"`),
      )
    })

  test('ends the import before its first row, wherever the value is', async (t) => {
    const rows = Array.from({ length: 2_000 }, (_, at) => `k${at},https://example.com/,fine`)
    const content = `key,url,Note\n${rows.join('\n')}\nlast,https://example.com/,disabled\n`
    const read: unknown[] = []
    await assert.rejects(async () => {
      const source = openCsvText(t, content)
      const signal = new AbortController().signal
      for await (const record of source.read({ resume: undefined, signal })) read.push(record)
    }, ImportSourceFault)
    assert.deepEqual(read, [])
  })

  for (const [header, value] of [
    ['Archived', 'no'],
    ['Locked', ''],
    ['Title', 'Expired goods'],
    ['Is active?!2', ''],
  ] as const)
    test(`is kept beside the link: "${header}" with "${value}"`, async (t) => {
      const { links } = await readSorted(openCsvText(t, file(header, value)))
      assert.deepEqual(links[0]?.rest, value === '' ? {} : { [header]: value })
    })

  test('is kept beside the link when it is dismissed', async (t) => {
    const options = { ignored: ['zustand'] }
    const { links } = await readSorted(openCsvText(t, file('Zustand', 'Disabled'), options))
    assert.deepEqual(links[0]?.rest, { Zustand: 'Disabled' })
    assert.equal(links[0]?.closed, null)
  })

  test('is no field when it is dismissed, though its header is known', async (t) => {
    const options = { ignored: ['Status'] }
    const { links } = await readSorted(openCsvText(t, file('Status', 'expired'), options))
    assert.equal(links[0]?.closed, null)
  })

  test('takes the meaning that a person gives it', async (t) => {
    const options = { map: { closed: 'Zustand' } }
    const { links } = await readSorted(openCsvText(t, file('Zustand', 'Disabled'), options))
    assert.equal(links[0]?.closed, 'The column "Zustand" is "Disabled".')
  })

  test('must exist to be dismissed', async (t) => {
    await assert.rejects(
      async () => readRecords(openCsvText(t, file('a', 'b'), { ignored: ['c'] })),
      /no column "c"/,
    )
  })
})
