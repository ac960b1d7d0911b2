import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { type Answer, apiClient, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { readOperations, UNKNOWN_ID, validRequest } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const LIMIT = 3
const WINDOW_MS = 60_000

describe(`TERSE_RATE_LIMIT=${LIMIT}`, () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE, { TERSE_RATE_LIMIT: String(LIMIT) })
  })
  after(() => service.stop())

  async function useUp(api: { get(path: string): Promise<Answer> }): Promise<void> {
    for (let left = LIMIT - 1; left >= 0; left -= 1) {
      const { headers } = expectStatus(await api.get('/links'), 200)
      assert.equal(headers.get('ratelimit-limit'), String(LIMIT))
      assert.equal(headers.get('ratelimit-remaining'), String(left))
    }
  }

  function expectLimited(answer: Answer): void {
    expectProblem(answer, 'rate_limited')
    const wait = Number(answer.headers.get('retry-after'))
    assert.ok(wait >= 1 && wait <= WINDOW_MS / 1_000, String(wait))
    assert.equal(answer.headers.get('ratelimit-remaining'), '0')
  }

  test('returns 429 with Retry-After above the limit, on every operation', async () => {
    const api = await service.api()
    await useUp(api)
    for (const operation of await readOperations(service.baseUrl)) {
      const path = operation.pathFor(UNKNOWN_ID)
      expectLimited(await api.send(operation.method, path, validRequest(operation)))
    }
  })

  test('counts each token separately, within one workspace too', async () => {
    const used = await service.api()
    const fresh = await service.api()
    await useUp(used)
    expectLimited(await used.get('/links'))
    await useUp(fresh)
  })

  test('counts requests that are refused for their content', async () => {
    const api = await service.api()
    for (let index = 0; index < LIMIT; index += 1) {
      expectProblem(await api.get('/links/none'), 'not_found')
    }
    expectLimited(await api.get('/links'))
  })

  test('counts requests that are refused for their scope', async () => {
    const api = await service.api('acme', ['links:read'])
    for (let index = 0; index < LIMIT; index += 1) {
      expectProblem(await api.get('/domains'), 'missing_scope')
    }
    expectLimited(await api.get('/links'))
  })

  test('does not execute a limited request', async () => {
    const api = await service.api('limited')
    await useUp(api)
    expectLimited(await api.post('/links', { domain: 'localhost', url: 'https://example.com/' }))
    assert.equal((await (await service.api('limited')).get('/links')).body.meta.total, 0)
  })

  test('allows requests again after a minute', async (context: TestContext) => {
    const api = await service.api()
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    await useUp(api)
    expectProblem(await api.get('/links'), 'rate_limited')
    context.mock.timers.tick(WINDOW_MS + 1_000)
    await useUp(api)
  })

  test('does not count requests that need no token', async () => {
    for (let index = 0; index <= LIMIT; index += 1) {
      expectProblem(await apiClient(service.baseUrl, undefined).get('/links'), 'unauthorized')
      assert.equal((await visit(service.port, '/livez')).status, 200)
      assert.equal((await visit(service.port, '/api/v1/openapi.json')).status, 200)
    }
  })
})

describe('TERSE_RATE_LIMIT=0', () => {
  test('is off, and sends no RateLimit headers', async () => {
    const service = await startService(SQLITE, { TERSE_RATE_LIMIT: '0' })
    try {
      const api = await service.api()
      for (let index = 0; index < 100; index += 1) {
        const { headers } = expectStatus(await api.get('/domains'), 200)
        assert.equal(headers.has('ratelimit-limit'), false)
      }
    } finally {
      await service.stop()
    }
  })
})
