import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Api, apiClient } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import type { Description } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const description: Description = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))

/** The lists that a token reads, with the parameters that they take. */
const LISTS = Object.entries(description.paths).flatMap(([path, { get }]) => {
  const isList = get?.operationId !== undefined && /\.list/.test(get.operationId)
  if (!isList || !get.security.some((scheme) => 'token' in scheme)) return []
  return [{ path: path.replace('/api/v1', ''), names: get.parameters?.map(({ name }) => name) }]
})

describe('a list', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE)
    api = apiClient(service.baseUrl, await service.token())
  })
  after(() => service.stop())

  test('is found by its operation', () => {
    assert.ok(LISTS.length >= 8, JSON.stringify(LISTS))
  })

  for (const { path, names = [] } of LISTS) {
    const unknown = ['serach', 'tags', 'limit', 'page', 'per_page', 'cursor'].filter(
      (name) => !names.includes(name),
    )
    for (const name of unknown)
      test(`returns 422 for the parameter ${name}, which ${path} does not have`, async () => {
        const { body } = expectProblem(await api.get(`${path}?${name}=1`), 'validation_failed')
        assert.deepEqual(body.errors, { [name]: ['is not a known field'] })
      })
  }
})
