import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutUnusedSchemas } from './openapi.ts'

const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('withoutUnusedSchemas', () => {
  const paths = { '/links': refer('Link'), '/domains': refer('Domain') }
  const keptOf = (schemas: object) => {
    const { components } = withoutUnusedSchemas({ paths, components: { schemas } })
    return Object.keys(components.schemas)
  }

  test('keeps schemas that others point to, and drops the rest', () => {
    const schemas = { Domain: refer('Timestamp'), Link: {}, LinkInput: {}, Timestamp: {} }
    assert.deepEqual(keptOf(schemas), ['Domain', 'Link', 'Timestamp'])
  })

  test('sorts schemas by name', () => {
    assert.deepEqual(keptOf({ Link: {}, Domain: {} }), ['Domain', 'Link'])
  })
})
