import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { PREFIX, readOperations, UNKNOWN_ID } from '../support/operations.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'

const ORIGIN = 'https://app.example'

const names = (list: unknown) => String(list).split(', ')

describe('the API and scripts of other origins', () => {
  let service: Service
  let token: string
  before(async () => {
    service = await startService(SQLITE)
    token = await service.token()
  })
  after(() => service.stop())

  function request(path: string, method = 'GET', headers: Record<string, string> = {}) {
    return visit(service.port, path, { method, headers: { origin: ORIGIN, ...headers } })
  }

  function preflight(path: string, method: string): Promise<VisitAnswer> {
    return request(path, 'OPTIONS', {
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    })
  }

  test('answers a preflight without a token, for every operation', async () => {
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
        'X-API-Key',
      ])
      assert.equal(headers['access-control-max-age'], '7200')
      assert.equal(headers['access-control-allow-credentials'], undefined)
    }
  })

  test('answers a preflight for an unknown path, so that the script can read the 404', async () => {
    assert.equal((await preflight(`${PREFIX}/nothing`, 'GET')).status, 204)
    assert.equal((await preflight(`${PREFIX}/links`, 'DELETE')).status, 204)
  })

  test('answers 405 to OPTIONS that is not a preflight', async () => {
    assert.equal((await request(`${PREFIX}/links`, 'OPTIONS')).status, 405)
  })

  test('lets a script read every API answer, refusals too', async () => {
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
      const answer = await request(PREFIX + path, method, headers)
      assert.equal(answer.status, status, `${method} ${path}: ${answer.body}`)
      assert.equal(answer.headers['access-control-allow-origin'], '*', path)
      assert.equal(answer.headers['access-control-allow-credentials'], undefined)
      const exposed = names(answer.headers['access-control-expose-headers'])
      for (const name of ['ETag', 'Retry-After', 'RateLimit-Remaining', 'Content-Disposition']) {
        assert.ok(exposed.includes(name), name)
      }
    }
  })

  test('returns 401 for a request with only a cookie', async () => {
    const answer = await request(`${PREFIX}/links`, 'GET', { cookie: `token=${token}` })
    assert.equal(answer.status, 401)
  })

  test('does not expose the pages for visitors to other origins', async () => {
    for (const path of ['/', '/docs', '/livez', '/readyz', '/robots.txt', '/nothing', '/api']) {
      for (const answer of [await request(path), await preflight(path, 'GET')]) {
        const granted = Object.keys(answer.headers).filter((name) => name.startsWith('access-c'))
        assert.deepEqual(granted, [], path)
      }
    }
  })
})
