import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter, cases } from '../../../test/support/properties.ts'
import { ImportSourceFault } from '../import-source.ts'
import { type JsonItem, JsonItems } from './json-items.ts'

function split(document: string | Buffer, chunkBytes = 1_000_000) {
  const bytes = Buffer.from(document)
  const items = new JsonItems('links', ['count'])
  const found: JsonItem[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes)
    found.push(...items.push(bytes.subarray(at, at + chunkBytes)))
  items.end()
  return { found, count: items.members.get('count') }
}

const textsOf = (document: string, chunkBytes?: number) =>
  split(document, chunkBytes).found.map(({ text }) => text)

describe('items of a JSON document', () => {
  const CASES: { name: string; document: string; texts: string[] }[] = [
    { name: 'an array', document: '[{"a":1}, {"b":[2]}]', texts: ['{"a":1}', '{"b":[2]}'] },
    { name: 'an empty array', document: ' [ ] ', texts: [] },
    {
      name: 'an array in an object',
      document: '{"x":{"links":[1]},"links":[1,"a"],"y":1}',
      texts: ['1', '"a"'],
    },
    {
      name: 'brackets in strings',
      document: '{"links":[{"a":"}],{"},"]"]}',
      texts: ['{"a":"}],{"}', '"]"'],
    },
    {
      name: 'escapes',
      document: '[{"a":"\\\\\\"}"},"\\\\"]',
      texts: ['{"a":"\\\\\\"}"}', '"\\\\"'],
    },
    { name: 'words', document: '[null,true,-1.5e3]', texts: ['null', 'true', '-1.5e3'] },
    { name: 'what is no JSON', document: '[{"a":},{"b":1}]', texts: ['{"a":}', '{"b":1}'] },
  ]
  for (const { name, document, texts } of CASES)
    test(`are those of ${name}`, () => {
      for (const chunkBytes of [1, 2, 3, 1_000])
        assert.deepEqual(textsOf(document, chunkBytes), texts)
    })

  test('are numbered, and members around them are returned', () => {
    const before = split('{"count":2,"links":[1,2],"other":3}')
    assert.deepEqual(
      before.found.map(({ number }) => number),
      [1, 2],
    )
    assert.equal(before.count, 2)
    assert.equal(split('{"links":[1,2],"count":3}', 1).count, 3)
  })

  test('have a fault when they are too long, or not in UTF-8', () => {
    const long = `"${'x'.repeat(3_000_000)}"`
    const { found } = split(`[1,${long},2]`, 100_000)
    assert.deepEqual(
      found.map(({ fault }) => fault),
      [undefined, 'It is longer than 1 MiB.', undefined],
    )
    assert.equal(found[1]?.text.length, 2_000)
    const latin1 = split(Buffer.from('["ü","a"]', 'latin1')).found
    assert.deepEqual(
      latin1.map(({ fault }) => fault),
      ['It is not in UTF-8.', undefined],
    )
  })

  const FAULTS: { name: string; document: string; message: RegExp }[] = [
    {
      name: 'ends in an item',
      document: '{"links":[{"a":1},{"a"',
      message: /incomplete.*after 1 items/,
    },
    { name: 'ends after an item', document: '{"links":[1', message: /incomplete/ },
    { name: 'ends after the array', document: '{"links":[1]', message: /incomplete/ },
    { name: 'has no such array', document: '{"items":[1]}', message: /no list "links"/ },
    { name: 'has no array there', document: '{"links":{"a":1}}', message: /no list "links"/ },
    { name: 'has it twice', document: '{"links":[1],"links":[2]}', message: /twice/ },
    { name: 'is a word', document: 'null', message: /no JSON/ },
    { name: 'is a page of HTML', document: '<!doctype html>', message: /no JSON/ },
    { name: 'lacks a comma', document: '[{"a":1}{"a":2}]', message: /no valid JSON after 1/ },
    { name: 'lacks a colon', document: '{"links"[1]}', message: /no valid JSON/ },
    { name: 'goes on', document: '[1] [2]', message: /no valid JSON/ },
    { name: 'has a key that is no text', document: '{links:[1]}', message: /no valid JSON/ },
  ]
  for (const { name, document, message } of FAULTS)
    test(`cannot be read when the document ${name}`, () => {
      for (const chunkBytes of [1, 1_000])
        assert.throws(
          () => split(document, chunkBytes),
          (error) => error instanceof ImportSourceFault && message.test(error.message),
        )
    })

  test('are those of any document, in whatever chunks it comes', () => {
    const value = fc.jsonValue({ maxDepth: 3, stringUnit: anyCharacter })
    fc.assert(
      fc.property(
        fc.array(value),
        value,
        fc.integer({ min: 1, max: 20 }),
        (links, other, bytes) => {
          for (const indent of [0, 2]) {
            const document = JSON.stringify({ other, links, count: other }, undefined, indent)
            const { found, count } = split(document, bytes)
            assert.deepEqual(
              found.map(({ text }) => JSON.parse(text)),
              JSON.parse(JSON.stringify(links)),
            )
            assert.deepEqual(count, JSON.parse(JSON.stringify(other)))
          }
        },
      ),
      cases(200),
    )
  })

  test('or a fault are found in any bytes, in whatever chunks they come', () => {
    const part = fc.constantFrom(...'{}[],:"\\ 1a', '"links":', '"links"', '"x"', 'null')
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        (parts, bytes) => {
          const read = (chunkBytes: number) => {
            try {
              return textsOf(parts.join(''), chunkBytes)
            } catch (error) {
              assert.ok(error instanceof ImportSourceFault, String(error))
              return error.message
            }
          }
          assert.deepEqual(read(bytes), read(1_000))
        },
      ),
      cases(2_000),
    )
  })
})
