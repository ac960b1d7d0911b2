import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rowsOf, TABLE, valuesOf } from '../../../../test/support/dump-rows.ts'

describe('values in a dump', () => {
  const CASES: { name: string; sql: string; value: string | null }[] = [
    { name: 'NULL', sql: 'NULL', value: null },
    { name: 'null in lower case', sql: 'null', value: null },
    { name: 'true', sql: 'TRUE', value: '1' },
    { name: 'an integer', sql: '42', value: '42' },
    { name: 'a negative number', sql: '-1', value: '-1' },
    { name: 'a number with an exponent', sql: '1.5e-3', value: '1.5e-3' },
    { name: 'an empty string', sql: "''", value: '' },
    { name: 'a string', sql: "'a b'", value: 'a b' },
    { name: 'a doubled quote', sql: "'it''s'", value: "it's" },
    { name: 'an escaped quote', sql: "'it\\'s'", value: "it's" },
    { name: 'an escaped backslash before the quote', sql: "'a\\\\'", value: 'a\\' },
    {
      name: 'all escapes',
      sql: "'\\0\\b\\n\\r\\t\\Z\\\"\\\\\\q'",
      value: '\0\b\n\r\t\u001a"\\q',
    },
    { name: 'the escapes of patterns', sql: "'\\%\\_'", value: '\\%\\_' },
    { name: 'double quotes', sql: '"a\'b"', value: "a'b" },
    { name: 'strings one after the other', sql: "'a' 'b'", value: 'ab' },
    { name: 'a string in binary', sql: "_binary 'é'", value: 'é' },
    { name: 'a string with its encoding', sql: "_utf8mb4'日本'", value: '日本' },
    { name: 'a national string', sql: "N'x'", value: 'x' },
    { name: 'hex as a number', sql: '0xC3A9', value: 'é' },
    { name: 'hex as a string', sql: "x'c3a9'", value: 'é' },
    { name: 'bits', sql: "b'101'", value: '5' },
    {
      name: 'parentheses, semicolons and comments in a string',
      sql: "'); -- /* #'",
      value: '); -- /* #',
    },
    { name: 'a comment before it', sql: '/* , */ 1', value: '1' },
  ]
  for (const { name, sql, value } of CASES)
    test(`reads ${name}`, () => {
      const dump = `${TABLE}INSERT INTO \`t\` VALUES (1,${sql});\n`
      assert.deepEqual(valuesOf(dump), [['1', value]])
      // Whatever a chunk ends with, the value is the same.
      assert.deepEqual(valuesOf(dump, 1), [['1', value]])
    })

  const FAULTS = ['NOW()', '1+1', "CONCAT('a',')')", "'a' COLLATE utf8mb4_bin", 'DEFAULT', "x'abc'"]
  for (const sql of FAULTS)
    test(`returns a row with a fault for ${sql}, and the rows around it`, () => {
      const dump = `${TABLE}INSERT INTO t VALUES (1,'a'),(2,${sql}),(3,'c');\n`
      const expected = [['1', 'a'], 'A value is no constant.', ['3', 'c']]
      assert.deepEqual(valuesOf(dump), expected)
      assert.deepEqual(valuesOf(dump, 1), expected)
      assert.equal(rowsOf(dump)[1]?.showText(), `(2,${sql})`)
    })

  test('returns a row with a fault for a text that is not in its encoding', () => {
    const dump = Buffer.concat([
      Buffer.from(`${TABLE}INSERT INTO t VALUES (1,'`),
      Buffer.from([0xe9]),
      Buffer.from("'),(2,'b');"),
    ])
    assert.deepEqual(valuesOf(dump), ['A text is not valid utf-8.', ['2', 'b']])
  })

  test('decodes the encoding that the dump names', () => {
    const dump = Buffer.from(
      `/*!40101 SET NAMES latin1 */;\n${TABLE}INSERT INTO t VALUES (1,'é€');`,
      'latin1',
    )
    dump[dump.lastIndexOf(0xac)] = 0x80
    assert.deepEqual(valuesOf(dump), [['1', 'é€']])
  })

  test('takes a backslash for itself in the mode NO_BACKSLASH_ESCAPES', () => {
    const mode = "SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO,NO_BACKSLASH_ESCAPES';\n"
    assert.deepEqual(valuesOf(`${mode}${TABLE}INSERT INTO t VALUES (1,'C:\\');`), [['1', 'C:\\']])
  })
})
