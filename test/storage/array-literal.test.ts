import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { bytesArray, numberArray, textArray, uuidArray } from '../../src/storage/postgres/errors.ts'
import { serverUrl } from '../support/engines.ts'
import { anyCharacter, cases } from '../support/properties.ts'

/** Any text that PostgreSQL can store: no U+0000 and no lone surrogates. */
const texts = fc.array(
  fc.oneof(
    fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('\0', '')),
    fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', ' ', '\n', "'", 'N', 'NULL') }),
  ),
)

describe('an array literal parsed by PostgreSQL', () => {
  let client: pg.Client
  before(async () => {
    client = new pg.Client(`${serverUrl()}/postgres`)
    await client.connect()
  })
  after(() => client.end())

  async function read(literal: string, type: string): Promise<unknown> {
    const { rows } = await client.query(`select to_jsonb($1::${type}[]) as read`, [literal])
    return rows[0].read
  }

  test('returns any texts unchanged', () =>
    fc.assert(
      fc.asyncProperty(texts, async (values) => {
        assert.deepEqual(await read(textArray(values), 'text'), values)
      }),
      cases(200),
    ))

  test('returns numbers and nulls unchanged', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.maxSafeInteger())), async (values) => {
        assert.deepEqual(await read(numberArray(values), 'bigint'), values)
      }),
      cases(100),
    ))

  test('returns UUIDs and nulls unchanged', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.uuid())), async (values) => {
        assert.deepEqual(await read(uuidArray(values), 'uuid'), values)
      }),
      cases(100),
    ))

  test('returns bytes unchanged', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array()), async (values) => {
        const hex = values.map((bytes) => `\\x${bytes.toHex()}`)
        assert.deepEqual(await read(bytesArray(values), 'bytea'), hex)
      }),
      cases(100),
    ))
})
