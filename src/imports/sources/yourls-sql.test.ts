import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import {
  assertResumes,
  formatSecond,
  importFixture,
  readRecords,
  readSorted,
  readTruth,
} from '../../../test/support/import-sources.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { ImportSourceFault } from '../import-source.ts'
import { openYourlsSql } from './yourls-sql.ts'

const TRUTH = readTruth(importFixture('yourls/truth.csv'))

const open = (file: string, timeZone = 'UTC') =>
  openYourlsSql({ kind: 'yourls-sql', file, timeZone })
const fixture = (name: string) => importFixture(`yourls/${name}`)

/** Writes a dump, and returns its path. */
function write(t: TestContext, dump: string | Buffer): string {
  const file = path.join(temporaryFolder(t), 'dump.sql')
  writeFileSync(file, dump)
  return file
}

describe('a dump of YOURLS', () => {
  test('has every link of truth.csv', async () => {
    const { links, refused } = await readSorted(open(fixture('yourls.sql')))
    assert.deepEqual(refused, [])
    const found = links.map(({ key, url, created_at, clicks }) => [
      key,
      url,
      formatSecond(created_at),
      clicks,
    ])
    const expected = TRUTH.map(({ key, url, created_at, clicks }) => [
      key,
      url,
      created_at,
      Number(clicks),
    ])
    assert.deepEqual(found.sort(), expected.sort())
  })

  test('has the single clicks of the log', async () => {
    const { links, clicks } = await readSorted(open(fixture('yourls.sql')))
    const byLink = Map.groupBy(clicks, ({ ref }) => ref)
    for (const { key, last_click } of TRUTH) {
      const instants = byLink.get(key)?.map(({ at }) => at) ?? []
      assert.equal(
        instants.length === 0 ? '' : formatSecond(Math.max(...instants)),
        last_click,
        key,
      )
    }
    // The total and the log disagree: its rows were removed, or the count was set by hand.
    const differing = links
      .map(({ ref, clicks: total }) => ({
        ref,
        more: (total ?? 0) - (byLink.get(ref)?.length ?? 0),
      }))
      .filter(({ more }) => more !== 0)
    assert.deepEqual(differing, [
      { ref: 'lostlog', more: 25 },
      { ref: 'title-uni', more: 1_000 },
    ])
    // YOURLS leaves the log of a deleted link.
    const refs = new Set(links.map(({ ref }) => ref))
    const orphans = [...byLink].filter(([ref]) => !refs.has(ref))
    assert.deepEqual(
      orphans.map(([ref, { length }]) => [ref, length]),
      [['deleted-later', 8]],
    )
  })

  test('has clicks without a referrer, agent or country as such', async () => {
    const { clicks } = await readSorted(open(fixture('yourls.sql')))
    assert.ok(clicks.some(({ referrer }) => referrer === ''))
    assert.ok(clicks.some(({ user_agent }) => user_agent === ''))
    assert.ok(clicks.every(({ referrer }) => referrer !== 'direct'))
    assert.ok(clicks.every(({ user_agent }) => user_agent !== '-'))
    assert.ok(clicks.every(({ country }) => /^([A-Z]{2})?$/.test(country) && country !== 'XX'))
  })

  test('yields a link before its clicks', async () => {
    const records = await readRecords(open(fixture('yourls.sql')))
    const firstClick = records.findIndex(({ kind }) => kind === 'click')
    assert.ok(records.findLastIndex(({ kind }) => kind === 'link') < firstClick)
  })

  test('gives the same links row by row', async () => {
    const { links } = await readSorted(open(fixture('yourls_url-row-by-row.sql')))
    const whole = await readSorted(open(fixture('yourls.sql')))
    const strip = (all: typeof links) => all.map(({ resume: _, ...link }) => link)
    assert.deepEqual(strip(links), strip(whole.links))
  })

  test('is read from any record on', () => assertResumes(open(fixture('yourls.sql')), 25))

  test('keeps a title that is not the address', async () => {
    const { links } = await readSorted(open(fixture('yourls.sql')))
    const titled = links.filter(({ options }) => options.notes !== undefined).map(({ key }) => key)
    const expected = TRUTH.filter(({ note }) => note.includes('titled')).map(({ key }) => key)
    assert.deepEqual(titled.sort(), expected.sort())
  })
})

describe('the time zone of a dump of YOURLS', () => {
  const created = async (file: string, timeZone: string) => {
    const { links } = await readSorted(open(file, timeZone))
    return links.map(({ created_at }) => formatSecond(created_at))
  }

  test('moves creation dates back that the zone of the server had shifted', async () => {
    assert.deepEqual(await created(fixture('zone-plus-two.sql'), '+02:00'), [
      '2026-11-22T08:02:39Z',
      '2026-11-22T08:02:39Z',
    ])
    const { clicks } = await readSorted(open(fixture('zone-plus-two.sql'), '+02:00'))
    assert.deepEqual(
      [...new Set(clicks.map(({ at }) => formatSecond(at)))],
      ['2026-11-22T08:02:39Z'],
    )
  })

  test('moves nothing for a server in UTC, or a dump that sets no zone', async (t) => {
    assert.equal((await created(fixture('zone-plus-two.sql'), 'UTC'))[0], '2026-11-22T06:02:39Z')
    const dump = readFileSync(fixture('zone-plus-two.sql'), 'utf8')
    const file = write(t, dump.replaceAll(/^.*TIME_ZONE.*\n/gm, ''))
    assert.equal((await created(file, '+02:00'))[0], '2026-11-22T06:02:39Z')
  })

  test('follows summer time', async (t) => {
    const dump = readFileSync(fixture('zone-plus-two.sql'), 'utf8')
    const file = write(t, dump.replace('2026-11-22 06:02:39', '2026-07-01 06:00:00'))
    assert.deepEqual(await created(file, 'Europe/Berlin'), [
      '2026-07-01T08:00:00Z',
      '2026-11-22T07:02:39Z',
    ])
  })
})

describe('a damaged dump of YOURLS', () => {
  const TABLE =
    'CREATE TABLE `my_url` (`keyword` varchar(100), `url` text, `timestamp` timestamp, `clicks` int);\n'
  const CASES: { name: string; values: string; reason: RegExp }[] = [
    {
      name: 'no date',
      values: "'a','https://a.example/','2026-02-30 00:00:00',1",
      reason: /no date/,
    },
    {
      name: 'no count',
      values: "'a','https://a.example/','2026-02-03 00:00:00',-1",
      reason: /count/,
    },
    { name: 'no key', values: "NULL,'https://a.example/','2026-02-03 00:00:00',1", reason: /NULL/ },
    { name: 'too few values', values: "'a','https://a.example/'", reason: /2 values for 4/ },
    { name: 'a function', values: "'a','https://a.example/',NOW(),1", reason: /no constant/ },
  ]
  for (const { name, values, reason } of CASES)
    test(`has a refused row for ${name}, and the rows around it`, async (t) => {
      const good = "('b','https://b.example/','0000-00-00 00:00:00',1)"
      const file = write(t, `${TABLE}INSERT INTO \`my_url\` VALUES ${good},(${values}),${good};`)
      const { links, refused } = await readSorted(open(file))
      assert.equal(links.length, 2)
      assert.equal(links[0]?.created_at, null)
      assert.equal(refused.length, 1)
      assert.match(refused[0]?.reason ?? '', reason)
      assert.equal(refused[0]?.place, 'my_url, row 2')
      assert.equal(refused[0]?.row, `(${values})`)
    })

  test('shows no address of a visitor in a refused row', async (t) => {
    const dump = readFileSync(fixture('zone-plus-two.sql'), 'utf8')
    const file = write(t, dump.replaceAll("'2026-11-22 08:02:39','zone'", "'never','zone'"))
    const { refused, clicks } = await readSorted(open(file))
    assert.deepEqual([refused.length, clicks.length], [3, 0])
    assert.ok(refused.every(({ row }) => row.includes("'never'") && !row.includes('192.0.2.10')))
  })

  test('throws when it ends early, after the links that are complete', async (t) => {
    const dump = readFileSync(fixture('yourls_url-row-by-row.sql'))
    for (const bytes of [10_000, 20_001, dump.length - 100]) {
      const keys: string[] = []
      const reading = (async () => {
        const file = write(t, dump.subarray(0, bytes))
        const signal = new AbortController().signal
        for await (const record of open(file).read({ resume: undefined, signal }))
          if (record.kind === 'link') keys.push(record.key)
      })()
      await assert.rejects(
        reading,
        (error) => error instanceof ImportSourceFault && /incomplete/.test(error.message),
      )
      assert.ok(keys.length > 10)
    }
  })

  const FAULTS: { name: string; dump: string; message: RegExp }[] = [
    { name: 'is empty', dump: '', message: /empty/ },
    {
      name: 'is of another service',
      dump: 'CREATE TABLE `posts` (`id` int);\n',
      message: /no rows.*url/,
    },
    {
      name: 'does not name columns',
      dump: "INSERT INTO `yourls_url` VALUES ('a','https://a.example/');",
      message: /--complete-insert/,
    },
    {
      name: 'has two sites',
      dump: `${TABLE}INSERT INTO my_url VALUES ('a','b','2026-01-01 00:00:00',1);${TABLE.replace('my_', 'your_')}INSERT INTO your_url VALUES ('a','b','2026-01-01 00:00:00',1);`,
      message: /several sites/,
    },
  ]
  for (const { name, dump, message } of FAULTS)
    test(`throws when it ${name}`, async (t) => {
      const file = write(t, dump)
      await assert.rejects(
        readRecords(open(file)),
        (error) => error instanceof ImportSourceFault && message.test(error.message),
      )
    })

  test('is read in UTF-16 too, as PowerShell writes it', async (t) => {
    const text = readFileSync(fixture('zone-plus-two.sql'), 'utf8').replaceAll('zone2', '日本語')
    for (const mark of ['\ufeff', '']) {
      const file = write(t, Buffer.from(`${mark}${text}`, 'utf16le'))
      const { links } = await readSorted(open(file))
      assert.deepEqual(
        links.map(({ key }) => key),
        ['zone', '日本語'],
      )
    }
  })
})

describe('a file that is no dump', () => {
  const CASES = [
    ['CSV', 'key,url\na,https://example.com/\n'],
    ['CSV', 'Kürzel;Ziel\n'],
    ['JSON', '{"links": []}'],
    ['a SQLite database', 'SQLite format 3\0'],
    ['a web page', '<!DOCTYPE html><title>Sign in</title>'],
  ] as const
  for (const [form, content] of CASES)
    test(`throws that it looks like ${form}: ${JSON.stringify(content)}`, async (t) => {
      await assert.rejects(
        readRecords(open(write(t, content))),
        (error) =>
          error instanceof ImportSourceFault && error.message.includes(`it looks like ${form}.`),
      )
    })

  for (const start of [
    'SET NAMES utf8mb4, x = 1;',
    'INSERT INTO `yourls_url` VALUES (1,2);',
    '-- a, b',
  ])
    test(`takes ${start} for SQL`, async (t) => {
      const reading = readRecords(open(write(t, `${start}\n`)))
      await assert.rejects(reading, (error) => !String(error).includes('looks like'))
    })
})
