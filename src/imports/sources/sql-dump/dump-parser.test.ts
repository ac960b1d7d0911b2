import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { rowsOf, TABLE, valuesOf } from '../../../../test/support/dump-rows.ts'
import { anyCharacter, cases } from '../../../../test/support/properties.ts'
import { ImportSourceFault } from '../../import-source.ts'

describe('statements in a dump', () => {
  const INSERTS: { name: string; sql: string }[] = [
    { name: 'of several rows', sql: "INSERT INTO `t` VALUES (1,'a'),\n(2,'b');" },
    { name: 'of one row each', sql: "INSERT INTO t VALUES (1,'a');INSERT INTO t VALUES (2,'b');" },
    { name: 'that name columns', sql: "insert into `t` (`b`, `a`) values ('a',1),('b',2);" },
    { name: 'that name the database', sql: "INSERT INTO `db`.`t` VALUES (1,'a'),(2,'b');" },
    { name: 'that ignore duplicates', sql: "INSERT IGNORE INTO t VALUES (1,'a'),(2,'b');" },
    { name: 'that replace', sql: "REPLACE INTO `t` VALUES (1,'a'),(2,'b');" },
    {
      name: 'that update',
      sql: "INSERT INTO t VALUES (1,'a'),(2,'b') ON DUPLICATE KEY UPDATE b=VALUES(b);",
    },
    {
      name: 'in a comment that servers run',
      sql: "/*!50000 INSERT INTO t VALUES (1,'a'),(2,'b') */;",
    },
    {
      name: 'with tabs as of Adminer',
      sql: "INSERT INTO `t` (`a`, `b`) VALUES\n(1,\t'a'),\n(2,\t'b');",
    },
  ]
  for (const { name, sql } of INSERTS)
    test(`reads INSERTs ${name}`, () => {
      for (const chunkBytes of [1, 7, 1_000]) {
        const rows = rowsOf(`${TABLE}${sql}\n`, chunkBytes)
        const named = rows.map(({ columns, values }) =>
          Object.fromEntries((columns ?? []).map((column, at) => [column, values[at]])),
        )
        assert.deepEqual(named, [
          { a: '1', b: 'a' },
          { a: '2', b: 'b' },
        ])
      }
    })

  test('refuse a row of more than 1 MiB, and read those around it', () => {
    const long = "it''s \\' (x) ".repeat(120_000)
    const sql = `INSERT INTO t VALUES (1,'a'),(2,'${long}'),(3,'c');\nINSERT INTO t VALUES (4,'d');`
    for (const chunkBytes of [65_536, 10_000]) {
      const rows = rowsOf(`${TABLE}${sql}\n`, chunkBytes)
      assert.deepEqual(
        rows.map(({ number, values, fault }) => [number, values[0], fault]),
        [
          [1, '1', undefined],
          [2, undefined, 'It is longer than 1 MiB.'],
          [3, '3', undefined],
          [4, '4', undefined],
        ],
      )
      assert.match(rows[1]?.showText() ?? '', /^\(2,'it''s .{1900}/)
    }
  })

  const SKIPPED: { name: string; sql: string }[] = [
    { name: 'other tables', sql: "INSERT INTO `u` VALUES (1,'; INSERT INTO t VALUES (9,9);');" },
    {
      name: 'comments',
      sql: "-- INSERT INTO t VALUES (9,9);\n# it's\n/* INSERT INTO t VALUES (9,9); */",
    },
    { name: 'what only the client reads', sql: '/*M!999999\\- enable the sandbox mode */ ' },
    {
      name: 'the bodies of triggers',
      sql: 'DELIMITER ;;\nCREATE TRIGGER x BEGIN SET @a = 1; INSERT INTO t VALUES (9,9); END ;;\nDELIMITER ;',
    },
    { name: 'INSERT from a query', sql: 'INSERT INTO u SELECT * FROM t;' },
    { name: 'names with quotes', sql: "DROP TABLE `a;'b`;" },
    {
      name: 'a long string of another table',
      sql: `INSERT INTO u VALUES ('${"it''s ".repeat(300_000)}');`,
    },
  ]
  for (const { name, sql } of SKIPPED)
    test(`skips ${name}`, () => {
      const dump = `${TABLE}${sql}\nINSERT INTO t VALUES (1,'a');\n-- the end`
      assert.deepEqual(valuesOf(dump, 100_000), [['1', 'a']])
    })

  test('numbers rows, and says where each ends', () => {
    const dump = `${TABLE}INSERT INTO t VALUES (1,'é'),(2,'b');`
    const rows = rowsOf(dump, 3)
    assert.deepEqual(
      rows.map(({ number }) => number),
      [1, 2],
    )
    const ends = rows.map(({ end }) => Buffer.from(dump).subarray(0, end).toString())
    assert.ok(ends[0]?.endsWith("(1,'é')"))
    assert.ok(ends[1]?.endsWith("(2,'b')"))
  })

  test('says in which zone rows are shown', () => {
    const insert = "INSERT INTO t VALUES (1,'a');"
    const dump = `${TABLE}${insert}/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;/*!40103 SET TIME_ZONE='+00:00' */;${insert}SET time_zone = "+02:00";${insert}/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;${insert}`
    const zones = rowsOf(dump).map(({ timeZone }) => timeZone)
    assert.deepEqual(zones, [undefined, '+00:00', '+02:00', undefined])
  })
})

describe('a dump that cannot be read', () => {
  const CASES: { name: string; dump: string; message: RegExp }[] = [
    {
      name: 'ends in a row',
      dump: `${TABLE}INSERT INTO t VALUES (1,'a'),(2,`,
      message: /incomplete.*middle/,
    },
    {
      name: 'ends between rows',
      dump: `${TABLE}INSERT INTO t VALUES (1,'a'),`,
      message: /incomplete.*middle/,
    },
    {
      name: 'ends in another table',
      dump: "INSERT INTO u VALUES (1,'a",
      message: /incomplete.*middle/,
    },
    {
      name: 'ends before its last statements',
      dump: '/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\nINSERT INTO u VALUES (1);\n',
      message: /incomplete.*last statements/,
    },
    { name: 'is in an unknown encoding', dump: 'SET NAMES gbk;', message: /character set gbk/ },
    {
      name: 'is of PostgreSQL',
      dump: 'COPY public.links (id, x) FROM stdin;\n1\t2\n',
      message: /PostgreSQL/,
    },
    {
      name: 'has a row without an end',
      dump: `${TABLE}INSERT INTO t VALUES ('${'x'.repeat(1_100_000)}`,
      message: /incomplete/,
    },
    {
      name: 'inserts from a query',
      dump: `${TABLE}INSERT INTO t SELECT * FROM u;`,
      message: /no VALUES/,
    },
  ]
  for (const { name, dump, message } of CASES)
    test(`throws for a dump that ${name}`, () => {
      assert.throws(
        () => rowsOf(dump, 300_000),
        (error) => error instanceof ImportSourceFault && message.test(error.message),
      )
    })
})

describe('any dump', () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.integer().map(String),
    fc.string({ unit: anyCharacter }),
    fc.string({
      unit: fc.constantFrom(
        "'",
        '\\',
        '"',
        '`',
        ')',
        '(',
        ',',
        ';',
        '-',
        '#',
        '/',
        '*',
        '\n',
        'n',
        '%',
      ),
    }),
  )
  const ESCAPES: Readonly<Record<string, string>> = {
    "'": "\\'",
    '"': '\\"',
    '\\': '\\\\',
    '\0': '\\0',
    '\n': '\\n',
    '\r': '\\r',
    '\u001a': '\\Z',
  }
  /** As mysqldump writes values. */
  const escaped = (text: string) =>
    Array.from(text, (character) => ESCAPES[character] ?? character).join('')

  test('gives back the values that were written, in whatever chunks it comes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 50 }),
        fc.boolean(),
        (rows, chunkBytes, isDoubled) => {
          const write = (text: string | null) => {
            if (text === null) return 'NULL'
            const inner = isDoubled
              ? text.replaceAll('\\', '\\\\').replaceAll("'", "''")
              : escaped(text)
            return `'${inner}'`
          }
          const tuples = rows.map((row) => `(${row.map(write).join(',')})`)
          const dump = `${TABLE}INSERT INTO t VALUES ${tuples.join(',')};`
          assert.deepEqual(valuesOf(dump, chunkBytes), rows)
        },
      ),
      cases(300),
    )
  })

  test('ends with rows or an ImportSourceFault, whatever its bytes are', () => {
    const sql = fc.array(
      fc.constantFrom(
        ...[
          'INSERT INTO t ',
          'VALUES ',
          '(',
          ')',
          ',',
          ';',
          "'",
          '"',
          '`',
          '\\',
          '/*',
          '*/',
          '/*!40101 ',
        ],
        ...[
          '--',
          ' ',
          '\n',
          '#',
          '1',
          'x',
          'NULL',
          '0x',
          "x'",
          'CREATE TABLE t (a int',
          'DELIMITER ;;\n',
          'SET NAMES ',
        ],
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(sql, fc.integer({ min: 1, max: 9 }), (parts, chunkBytes) => {
        const read = (bytes: number) => {
          try {
            return valuesOf(parts.join(''), bytes)
          } catch (error) {
            assert.ok(error instanceof ImportSourceFault, String(error))
            return error.message
          }
        }
        // How it is cut into chunks changes nothing.
        assert.deepEqual(read(chunkBytes), read(1_000_000))
      }),
      cases(2_000),
    )
  })
})
