import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { PREFIX, readOperations, UNKNOWN_ID } from '../support/operations.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'

const ORIGIN = 'https://app.example'

const names = (list: unknown) => String(list).split(', ')

describe('The API and scripts of other origins', () => {
  let service: Service
  let token: string
  before(async () => {
    service = await startService(SQLITE)
    token = await service.token()
  })
  after(() => service.stop())

  function ask(path: string, method = 'GET', headers: Record<string, string> = {}) {
    return visit(service.port, path, { method, headers: { origin: ORIGIN, ...headers } })
  }

  function preflight(path: string, method: string): Promise<VisitAnswer> {
    return ask(path, 'OPTIONS', {
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    })
  }

  test('a preflight is answered without a token, for every operation', async () => {
    for (const { template, method } of await readOperations(service.baseUrl)) {
      const path = PREFIX + template.replace('{id}', UNKNOWN_ID)
      const { status, body, headers } = await preflight(path, method)
      assert.equal(status, 204, `${method} ${template}`)
      assert.equal(body, '')
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.ok(names(headers['access-control-allow-methods']).includes(method))
      assert.deepEqual(names(headers['access-control-allow-headers']), [
        'Authorization',
        'Content-Type',
        'Idempotency-Key',
        'If-Match',
        'If-None-Match',
      ])
      assert.equal(headers['access-control-max-age'], '7200')
      assert.equal(headers['access-control-allow-credentials'], undefined)
    }
  })

  test('a preflight for an unknown path is answered, so that its 404 can be read', async () => {
    assert.equal((await preflight(`${PREFIX}/nothing`, 'GET')).status, 204)
    assert.equal((await preflight(`${PREFIX}/links`, 'DELETE')).status, 204)
  })

  test('OPTIONS that is no preflight stays 405', async () => {
    assert.equal((await ask(`${PREFIX}/links`, 'OPTIONS')).status, 405)
  })

  test('every answer of the API can be read, refusals too', async () => {
    const authorization = { authorization: `Bearer ${token}` }
    for (const [path, method, headers, status] of [
      ['/links', 'GET', authorization, 200],
      ['/openapi.json', 'GET', {}, 200],
      ['/links', 'GET', {}, 401],
      [`/links/${UNKNOWN_ID}`, 'GET', authorization, 404],
      ['/nothing', 'GET', {}, 404],
      ['/links/%zz', 'GET', authorization, 400],
      ['/links', 'DELETE', {}, 405],
      ['/links', 'POST', { ...authorization, 'content-type': 'text/plain' }, 415],
      ['/links?page=0', 'GET', authorization, 422],
    ] as const) {
      const answer = await ask(PREFIX + path, method, headers)
      assert.equal(answer.status, status, `${method} ${path}: ${answer.body}`)
      assert.equal(answer.headers['access-control-allow-origin'], '*', path)
      assert.equal(answer.headers['access-control-allow-credentials'], undefined)
      const exposed = names(answer.headers['access-control-expose-headers'])
      for (const name of ['ETag', 'Retry-After', 'RateLimit-Remaining', 'Content-Disposition']) {
        assert.ok(exposed.includes(name), name)
      }
    }
  })

  test('a cookie authenticates nothing', async () => {
    const answer = await ask(`${PREFIX}/links`, 'GET', { cookie: `token=${token}` })
    assert.equal(answer.status, 401)
  })

  test('what people visit with a browser is closed to other origins', async () => {
    for (const path of ['/', '/docs', '/livez', '/readyz', '/robots.txt', '/nothing', '/api']) {
      for (const answer of [await ask(path), await preflight(path, 'GET')]) {
        const granted = Object.keys(answer.headers).filter((name) => name.startsWith('access-c'))
        assert.deepEqual(granted, [], path)
      }
    }
  })
})
