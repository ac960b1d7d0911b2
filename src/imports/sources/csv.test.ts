import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { csvLine } from '@terse/contract/csv'
import fc from 'fast-check'
import {
  openCsvText,
  PLAIN,
  PLAIN_TARGETS,
  targetsOf,
  writeCsv,
} from '../../../test/support/csv-source.ts'
import {
  assertResumes,
  formatSecond,
  importFixture,
  readRecords,
  readSorted,
  readTruth,
} from '../../../test/support/import-sources.ts'
import { cases } from '../../../test/support/properties.ts'
import { readFileColumns, sampleColumns } from '../import-files.ts'
import { ImportSourceFault, type LinkRecord } from '../import-source.ts'
import { openCsv } from './csv.ts'

describe('a row with two short links', () => {
  test('gives a link for each, the clicks to the first, and goes on between them', async (t) => {
    const rows = [
      'Link,Custom Link,Destination URL,Clicks',
      'https://bit.ly/3abc,https://go.acme.com/spring,https://example.com/,7',
      'https://bit.ly/4abc,,https://example.com/4,2',
    ]
    const source = openCsvText(t, rows.join('\n'))
    const { links } = await readSorted(source)
    const shown = links.map(({ domain, key, url, clicks }) => [`${domain}/${key}`, url, clicks])
    assert.deepEqual(shown, [
      ['bit.ly/3abc', 'https://example.com/', 7],
      ['go.acme.com/spring', 'https://example.com/', null],
      ['bit.ly/4abc', 'https://example.com/4', 2],
    ])
    await assertResumes(source)
  })
})

describe('a CSV file', () => {
  const FORMS: { name: string; content: string | Buffer }[] = [
    { name: 'commas', content: PLAIN },
    { name: 'semicolons', content: PLAIN.replaceAll(',', ';') },
    { name: 'tabs', content: PLAIN.replaceAll(',', '\t') },
    { name: 'the line ends of Windows', content: PLAIN.replaceAll('\n', '\r\n') },
    { name: 'no last line end', content: PLAIN.trim() },
    { name: 'a byte order mark', content: `\ufeff${PLAIN}` },
    {
      name: 'UTF-16, as spreadsheets write it',
      content: Buffer.from(`\ufeff${PLAIN.replaceAll(',', '\t')}`, 'utf16le'),
    },
    { name: 'its delimiter in the first line', content: `sep=;\r\n${PLAIN.replaceAll(',', ';')}` },
    {
      name: 'quotes',
      content: '"key","url"\n"a","https://example.com/a"\n"b","https://example.com/b"\n',
    },
    { name: 'empty lines', content: PLAIN.replaceAll('\n', '\n\n') },
    { name: 'empty columns at the end', content: PLAIN.replaceAll('/b', '/b,,') },
    { name: 'other headers', content: PLAIN.replace('key,url', 'Back-half,Long URL') },
  ]
  for (const { name, content } of FORMS)
    test(`is read with ${name}`, async (t) => {
      const { links, refused } = await readSorted(openCsvText(t, content))
      assert.deepEqual(refused, [])
      assert.deepEqual(targetsOf(links), PLAIN_TARGETS)
    })

  test('gives domain and key of a whole short link', async (t) => {
    const content = [
      'Short URL,Destination',
      'https://go.example.com/plain,https://example.com/1',
      'GO.example.com/gr%C3%BC%C3%9Fe,https://example.com/2',
      'https://go.example.com/日本語/x,https://example.com/3',
      'https://go.example.com:8080/100%?utm=1,https://example.com/4',
      'https://go.example.com,https://example.com/5',
    ].join('\n')
    const { links } = await readSorted(openCsvText(t, content))
    assert.deepEqual(targetsOf(links), [
      ['go.example.com', 'plain', 'https://example.com/1'],
      ['go.example.com', 'grüße', 'https://example.com/2'],
      ['go.example.com', '日本語/x', 'https://example.com/3'],
      ['go.example.com:8080', '100%', 'https://example.com/4'],
      ['go.example.com', '', 'https://example.com/5'],
    ])
  })

  test('gives every field, and keeps other columns', async (t) => {
    const content = [
      'domain,slug,destination,ios,android,utm_source,external id,password,tags,expires,expired url,disabled,created,clicks,last clicked,Title,Comment,',
      'go.example.com,a,https://example.com/,https://apps.apple.com/1,https://play.google.com/1,news,42,s3cret ,news|a;b,2030-01-01,https://example.com/over,yes,2024-05-01 10:00,"1,234",2025-05-01 10:00,My title,On the flyer,x',
    ].join('\n')
    const { links } = await readSorted(openCsvText(t, content, { timeZone: 'Europe/Berlin' }))
    const { resume: _, ref: __, ...link } = links[0] as LinkRecord
    assert.deepEqual(link, {
      ...{ kind: 'link', place: 'line 2', domain: 'go.example.com', key: 'a' },
      ...{ url: 'https://example.com/', ios: 'https://apps.apple.com/1' },
      ...{ android: 'https://play.google.com/1', utm_source: 'news', utm_medium: null },
      ...{ utm_campaign: null, utm_term: null, utm_content: null, utm_name: null, external_id: 42 },
      protection: { kind: 'password', password: 's3cret ' },
      tags: ['news', 'a;b'],
      expires_at: Date.parse('2029-12-31T23:00:00Z') * 1_000,
      expired_redirect_url: 'https://example.com/over',
      closed: 'The column "disabled" is "yes".',
      created_at: Date.parse('2024-05-01T08:00:00Z') * 1_000,
      clicks: 1_234,
      last_click: Date.parse('2025-05-01T08:00:00Z') * 1_000,
      rest: { Title: 'My title', 'column 18': 'x' },
      notes: [],
      rules: [],
      options: { notes: 'On the flyer' },
      examples: [],
    })
  })

  test('takes the columns that are named, before those that are recognized', async (t) => {
    const content = 'url,Ziel,Kürzel,key\nhttps://wrong.example/,https://example.com/,k,wrong\n'
    const { links } = await readSorted(
      openCsvText(t, content, { map: { url: 'Ziel', key: 'kürzel' } }),
    )
    assert.deepEqual(targetsOf(links), [[null, 'k', 'https://example.com/']])
    assert.deepEqual(links[0]?.rest, { url: 'https://wrong.example/', key: 'wrong' })
  })

  test('takes away the apostrophe that spreadsheets put before formulas', async (t) => {
    const { links } = await readSorted(
      openCsvText(
        t,
        "key,url,title\n'-lead,https://example.com/,a;'=1+1\n'quoted',https://example.com/,\n",
      ),
    )
    assert.deepEqual(
      links.map(({ key, rest }) => [key, rest]),
      [
        ['-lead', { title: 'a;=1+1' }],
        ["'quoted'", {}],
      ],
    )
  })

  test('gives back what an export of links has written', async (t) => {
    const link = {
      ...{ domain: 'go.example.com', key: '-lead', url: 'https://example.com/?a=1;=2' },
      ...{ link: 'https://go.example.com/-lead', utm_campaign: "'=sale;\t@x", external_id: '-7' },
      ...{ tags: '["=a;b","it|s",";-c"]', protected: 'false', clicks: '3' },
    }
    const content = csvLine(Object.keys(link)) + csvLine(Object.values(link))
    const { links, refused } = await readSorted(openCsvText(t, content))
    assert.deepEqual(refused, [])
    const { domain, key, url, utm_campaign } = link
    assert.partialDeepStrictEqual(links[0], {
      ...{ domain, key, url, utm_campaign, external_id: -7, clicks: 3 },
      ...{ tags: ['=a;b', 'it|s', ';-c'], protection: { kind: 'none' }, rest: {} },
    })
  })

  const PASSWORDS: { header: string; value: string; protection: LinkRecord['protection'] }[] = [
    { header: 'password', value: '', protection: { kind: 'none' } },
    { header: 'password', value: 'false', protection: { kind: 'none' } },
    { header: 'password', value: 'true', protection: { kind: 'unknown password' } },
    { header: 'password', value: '•••', protection: { kind: 'unknown password' } },
    { header: 'password', value: '$2a$12$abc', protection: { kind: 'unknown password' } },
    { header: 'password', value: 'no', protection: { kind: 'password', password: 'no' } },
    { header: 'Has password', value: 'no', protection: { kind: 'none' } },
    { header: 'Has password', value: 'x', protection: { kind: 'unknown password' } },
  ]
  for (const { header, value, protection } of PASSWORDS)
    test(`makes ${JSON.stringify(protection)} of ${header} "${value}"`, async (t) => {
      const { links } = await readSorted(
        openCsvText(t, `key,url,${header}\na,https://example.com/,${value}\n`),
      )
      assert.deepEqual(links[0]?.protection, protection)
    })

  test('separates tags by the sign that they cannot have', async (t) => {
    const rows = ['"a, b"', 'a;b c', '"a|b,c"', 'one', '""']
    const content = `key,url,tags\n${rows.map((tags) => `k,https://example.com/,${tags}`).join('\n')}\n`
    const { links } = await readSorted(openCsvText(t, content))
    assert.deepEqual(
      links.map(({ tags }) => tags),
      [['a', 'b'], ['a', 'b c'], ['a', 'b,c'], ['one'], []],
    )
  })

  test('notes values that are left out', async (t) => {
    const { links } = await readSorted(
      openCsvText(t, 'key,url,created,clicks\na,https://example.com/,03/04/2025,many\n'),
    )
    assert.deepEqual([links[0]?.created_at, links[0]?.clicks], [null, null])
    assert.deepEqual(links[0]?.notes.length, 2)
    assert.deepEqual(links[0]?.rest, { created_at: '03/04/2025', clicks: 'many' })
  })

  test('has the same ref for a link, wherever its row is', async (t) => {
    const first = await readSorted(openCsvText(t, PLAIN))
    const moved = await readSorted(
      openCsvText(
        t,
        'key,url\nb,https://example.com/b\na,https://example.com/a\na,https://example.com/c\n',
      ),
    )
    assert.equal(first.links[0]?.ref, moved.links[1]?.ref)
    assert.equal(first.links[1]?.ref, moved.links[0]?.ref)
    assert.equal(new Set(moved.links.map(({ ref }) => ref)).size, 3)
  })

  test('is read from any row on', (t) =>
    assertResumes(
      openCsvText(
        t,
        `key,url\n${Array.from({ length: 30 }, (_, at) => (at % 7 === 0 ? 'x' : `k${at},"https://example.com/\n${at}"`)).join('\n')}\n`,
      ),
    ))
})

test("Dub's CSV has domains, keys, totals and tags, and keeps its other columns", async (t) => {
  const content = [
    'Short link,Destination URL,Clicks,Created at,Leads,Link ID,Updated at,Tags,Archived',
    'https://dub.sh/try,https://dub.co/?a=1,38,2024-08-02T12:34:56.000Z,2,link_1,2024-09-02T12:34:56.000Z,"news, spring sale",Yes',
  ].join('\n')
  const { links } = await readSorted(openCsvText(t, content, { kind: 'dub-csv' }))
  const [link] = links
  assert.deepEqual(targetsOf(links), [['dub.sh', 'try', 'https://dub.co/?a=1']])
  assert.deepEqual(
    [link?.clicks, link?.tags, formatSecond(link?.created_at ?? null)],
    [38, ['news', 'spring sale'], '2024-08-02T12:34:56Z'],
  )
  assert.deepEqual(link?.rest, {
    Leads: '2',
    'Link ID': 'link_1',
    'Updated at': '2024-09-02T12:34:56.000Z',
  })
  assert.deepEqual(link?.options, { archived: true })
})

for (const service of ['kutt', 'yourls', 'sink', 'dub', 'bitly'])
  test(`truth.csv of ${service} is a CSV file with its links`, async () => {
    const file = importFixture(`${service}/truth.csv`)
    const { links, refused } = await readSorted(
      openCsv({ kind: 'csv', file, map: {}, ignored: [], timeZone: 'UTC' }),
    )
    // The last line of one file lacks a column.
    assert.ok(refused.every(({ reason }) => /7 columns, and the header 8/.test(reason)))
    const found = links.map(({ domain, key, url, created_at, clicks }) => [
      domain,
      key,
      url,
      formatSecond(created_at),
      clicks,
    ])
    const truth = readTruth(file).map(({ domain, key, url, created_at, clicks }) => [
      ...[domain, key, url, created_at, clicks === '' ? null : Number(clicks)],
    ])
    const missing = truth.slice(links.length)
    assert.equal(missing.length, refused.length)
    assert.deepEqual(found, truth.slice(0, links.length))
  })

test('recognizes the columns of a file for a person who maps them', async (t) => {
  const file = writeCsv(t, 'Kürzel;Long URL;Note\nk1;https://example.com/1;x\n')
  assert.deepEqual(await readFileColumns(file), {
    names: ['Kürzel', 'Long URL', 'Note'],
    fields: { url: 'Long URL' },
  })
})

test('has up to three values of each column, except passwords', async (t) => {
  const rows = [
    'k1;https://example.com/1;;s3cret;yes',
    'k2;https://example.com/1;x;0ther;yes',
    'k3;https://example.com/2',
    'k4;https://example.com/3;;;no',
    'k5;https://example.com/4;"y',
  ]
  const file = writeCsv(t, `Code;Long URL;Note;PIN;Is protected\n${rows.join('\n')}\n`)
  assert.deepEqual(await sampleColumns(file), [
    { name: 'Code', field: 'key', samples: ['k1', 'k2', 'k3'] },
    {
      name: 'Long URL',
      field: 'url',
      samples: ['https://example.com/1', 'https://example.com/2', 'https://example.com/3'],
    },
    { name: 'Note', field: null, samples: ['x'] },
    { name: 'PIN', field: 'password', samples: ['••••••'] },
    { name: 'Is protected', field: null, samples: ['yes', 'no'] },
  ])
})

test('any values come back as they were written', async (t) => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 8 }),
      async (rows) => {
        const quote = (value: string) => `"${value.replaceAll('"', '""')}"`
        const lines = rows.map(
          ([key, title], at) =>
            `${at},${quote(`https://example.com/${key}`)},${quote(`x${title}x`)}`,
        )
        const { links } = await readSorted(openCsvText(t, `key,url,title\n${lines.join('\n')}\n`))
        assert.deepEqual(
          links.map(({ url, rest }) => [url, rest.title]),
          rows.map(([key, title]) => [`https://example.com/${key}`.trim(), `x${title}x`]),
        )
      },
    ),
    cases(60),
  )
})

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
    { header: 'Valid since', closed: ['soon'], open: ['2999-01-01', '2020-01-01', ''] },
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

  const OPTIONS = [
    ['Max clicks', '5', { max_clicks: 5 }],
    ['Max clicks', 'unlimited', {}],
    ['Valid from', '2999-01-01', { active_from: '2999-01-01T00:00:00.000000Z' }],
    ['Notes', 'For the fair', { notes: 'For the fair' }],
    ['og:title', 'For the fair', { title: 'For the fair' }],
  ] as const
  for (const [header, value, options] of OPTIONS)
    test(`has the option for ${header} "${value}"`, async (t) => {
      const { links } = await readSorted(openCsvText(t, file(header, value)))
      const [link] = links
      assert.deepEqual([link?.options, link?.rest, link?.notes], [options, {}, []])
    })

  test('keeps a limit and a start that cannot be read', async (t) => {
    const text = 'key,url,Max clicks,Valid from\na,https://example.com/,many,soon\n'
    const [link] = (await readSorted(openCsvText(t, text))).links
    assert.deepEqual(link?.options, {})
    assert.deepEqual(link?.rest, { starts_at: 'soon' })
    assert.match(link?.closed ?? '', /does not redirect before "soon"/)
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
    ['Comment', 'Blocked'],
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
