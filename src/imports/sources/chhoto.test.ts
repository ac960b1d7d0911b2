import assert from 'node:assert/strict'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import {
  assertResumes,
  formatSecond,
  readRecords,
  readSorted,
} from '../../../test/support/import-sources.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { ImportSourceFault } from '../import-source.ts'
import { openChhoto } from './chhoto.ts'

/** As version 7.5 makes it. */
const TABLE = `create table urls (
  id integer primary key, short_url text not null, long_url text not null, hits integer not null,
  expiry_time integer, notes text)`
const ROWS = `insert into urls values
  (1, 'plain', 'https://example.com/', 12, null, null),
  (2, 'old', 'https://example.com/old', 3, 1700000000, 'a note'),
  (5, '日本', 'https://example.com/日本', 0, 0, '')`

function open(t: TestContext, statements: readonly string[]) {
  const file = path.join(temporaryFolder(t), 'urls.sqlite')
  const database = new DatabaseSync(file)
  for (const statement of statements) database.exec(statement)
  database.close()
  return openChhoto({ kind: 'chhoto', file, timeZone: 'UTC' })
}

describe("Chhoto URL's database", () => {
  test('has links with their hits, and no creation dates', async (t) => {
    const { links, refused } = await readSorted(open(t, [TABLE, ROWS]))
    assert.deepEqual(refused, [])
    assert.deepEqual(
      links.map(({ ref, key, url, clicks, expires_at, created_at, options }) => [
        ...[ref, key, url, clicks, formatSecond(expires_at), created_at, options],
      ]),
      [
        ['plain', 'plain', 'https://example.com/', 12, '', null, {}],
        [
          'old',
          'old',
          'https://example.com/old',
          3,
          '2023-11-14T22:13:20Z',
          null,
          { notes: 'a note' },
        ],
        ['日本', '日本', 'https://example.com/日本', 0, '', null, {}],
      ],
    )
  })

  test('is read as versions before expiry and notes made it', async (t) => {
    const table =
      'create table urls (id integer primary key autoincrement, short_url text not null, long_url text not null, hits integer not null)'
    const rows = "insert into urls values (1, 'a', 'https://example.com/', 7)"
    const { links } = await readSorted(open(t, [table, rows]))
    assert.deepEqual(
      links.map(({ key, clicks, expires_at, rest }) => [key, clicks, expires_at, rest]),
      [['a', 7, null, {}]],
    )
  })

  test('is read from any record on, across pages', async (t) => {
    const many =
      "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200) insert into urls select i * 3, 'k' || i, 'https://example.com/' || i, i, null, null from n"
    const source = open(t, [TABLE, many])
    assert.equal(await source.countLinks(new AbortController().signal), 1_200)
    assert.equal((await readRecords(source)).length, 1_200)
    await assertResumes(source, 5)
    await source.close()
  })

  test('refuses rows that are no links, and takes the others', async (t) => {
    const rows =
      "insert into urls values (7, x'00', 'https://example.com/', 1, null, null), (8, 'a', 'https://example.com/', 'x', null, null), (9, 'b', 'https://example.com/', 1, 'soon', null)"
    const { links, refused } = await readSorted(open(t, [TABLE, ROWS, rows]))
    assert.equal(links.length, 3)
    assert.deepEqual(
      refused.map(({ place, reason }) => [place, reason]),
      [
        ['urls, id 7', 'short_url is no text.'],
        ['urls, id 8', 'hits is no count.'],
        ['urls, id 9', 'expiry_time is no date.'],
      ],
    )
  })

  const OTHERS = [
    { table: 'create table links (id integer primary key)', lacks: 'it has no table urls' },
    {
      table: 'create table urls (id integer primary key)',
      lacks: 'urls has no short_url, long_url',
    },
    {
      table: 'create table urls (id integer, short_url, long_url, hits)',
      lacks: 'urls has no primary key',
    },
    {
      table: 'create view urls as select 1 as id, 2 as short_url, 3 as long_url, 4 as hits',
      lacks: 'urls is not a plain table',
    },
  ]
  for (const { table, lacks } of OTHERS)
    test(`throws for another database: ${lacks}`, async (t) => {
      const reading = readRecords(open(t, [table]))
      await assert.rejects(
        reading,
        (error) =>
          error instanceof ImportSourceFault &&
          error.message.includes(`no database of Chhoto URL: ${lacks}`),
      )
    })
})
