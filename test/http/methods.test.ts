import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { PREFIX, readOperations, UNKNOWN_ID } from '../support/operations.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'

const COMMON = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
/** Methods that Node’s parser accepts and the API does not use. */
const RARE = ['TRACE', 'PROPFIND', 'SEARCH', 'QUERY', 'LINK', 'PURGE']

describe('methods that an API path does not have', () => {
  let service: Service
  /** The methods of each path in the OpenAPI document, with `HEAD` for each `GET`. */
  const methodsOf = new Map<string, Set<string>>()
  before(async () => {
    service = await startService(SQLITE)
    methodsOf.set('/openapi.json', new Set(['GET', 'HEAD']))
    for (const { template, method } of await readOperations(service.baseUrl)) {
      const methods = methodsOf.get(template) ?? new Set()
      methods.add(method)
      if (method === 'GET') methods.add('HEAD')
      methodsOf.set(template, methods)
    }
  })
  after(() => service.stop())

  function request(template: string, method: string, rest: object = {}): Promise<VisitAnswer> {
    const path = PREFIX + template.replace('{id}', UNKNOWN_ID)
    return visit(service.port, path, { method, ...rest })
  }

  function expectMethodNotAllowed(answer: VisitAnswer, template: string, method: string): void {
    assert.equal(answer.status, 405, `${method} ${template}`)
    const allowed = (answer.headers.allow ?? '').split(', ').toSorted()
    assert.deepEqual(allowed, [...(methodsOf.get(template) ?? [])].toSorted(), template)
    if (method === 'HEAD') return
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    const { code, message, request_id, ...rest } = JSON.parse(answer.body)
    assert.equal(code, 'method_not_allowed')
    assert.ok(message.length > 0)
    assert.equal(request_id, answer.headers['x-request-id'])
    assert.deepEqual(rest, {})
  }

  test('return 405, with exactly the described methods in Allow', async () => {
    assert.ok(methodsOf.size >= 19)
    for (const [template, methods] of methodsOf) {
      for (const method of COMMON.filter((common) => !methods.has(common))) {
        expectMethodNotAllowed(await request(template, method), template, method)
      }
    }
  })

  for (const method of RARE) {
    test(`return 405 for ${method}`, async () => {
      for (const template of methodsOf.keys()) {
        expectMethodNotAllowed(await request(template, method), template, method)
      }
    })
  }

  test('are counted with the pattern of the path', async () => {
    await request('/links/{id}', 'PURGE')
    const { body } = await visit(service.port, '/metrics')
    assert.match(body, /method="PURGE",route="\/api\/v1\/links\/:id",status="405"\} [1-9]/)
  })

  test('return 404 where there is no such path, or it cannot be decoded', async () => {
    for (const [path, status] of [
      ['/api/v1/nothing', 404],
      ['/api/v1/links/1/2/3', 404],
      ['/api/v1/links/%zz', 400],
    ] as const) {
      assert.equal((await visit(service.port, path, { method: 'PURGE' })).status, status, path)
    }
  })

  test('return 405 whatever the body is', async () => {
    for (const [type, body] of [
      ['application/json', '{}'],
      ['application/json', '{'],
      ['text/plain', 'text'],
      ['application/json', `"${'x'.repeat(70_000)}"`],
    ] as const) {
      const rest = { headers: { 'content-type': type }, body }
      expectMethodNotAllowed(await request('/links', 'PUT', rest), '/links', 'PUT')
    }
  })
})
