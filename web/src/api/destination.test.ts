import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { destinationOf } from './destination.ts'

describe('destinationOf', () => {
  const CASES: readonly (readonly [typed: string, destination: string | undefined])[] = [
    ['https://example.com/a?b=c', 'https://example.com/a?b=c'],
    ['  example.com/a ', 'https://example.com/a'],
    ['example.com:8080/a', 'https://example.com:8080/a'],
    ['http://localhost:3000/', 'http://localhost:3000/'],
    ['localhost', undefined],
    ['javascript:alert(1)', undefined],
    ['mailto:a@example.com', 'mailto:a@example.com'],
    ['tel:+49301234', 'tel:+49301234'],
    ['ftp://example.com/', undefined],
    ['two words', undefined],
    ['', undefined],
  ]
  for (const [typed, destination] of CASES) {
    test(`returns ${destination} for "${typed}"`, () => {
      assert.equal(destinationOf(typed), destination)
    })
  }
})
