import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { compatToken } from '../support/compat.ts'
import { closeDatabase, reopenDatabase } from '../support/database-access.ts'
import { ENGINES } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'

// SQLite is in-process and cannot become unavailable.
for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('the APIs of other services, while PostgreSQL is down', () => {
    let service: Service
    const keys = { kutt: '', polr: '', shlink: '' }
    before(async () => {
      service = await startService(engine)
      keys.kutt = await compatToken(service, 'compat:kutt')
      keys.polr = await compatToken(service, 'compat:polr')
      keys.shlink = await compatToken(service, 'compat:shlink')
      await closeDatabase(service.place)
    })
    after(async () => {
      await reopenDatabase(service.place)
      await service.stop()
    })

    async function get(
      path: string,
      headers: Record<string, string> = {},
    ): Promise<Record<string, unknown>> {
      const response = await fetch(`${service.baseUrl}${path}`, { headers })
      assert.equal(response.status, 503)
      assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
      return (await response.json()) as Record<string, unknown>
    }

    test('answers in the form of Kutt', async () => {
      const { error, ...rest } = await get('/api/v2/links', { 'X-API-Key': keys.kutt })
      assert.deepEqual([typeof error, rest], ['string', {}])
    })

    test('answers in the form of Polr', async () => {
      const query = `key=${keys.polr}&url_ending=a&response_type=json`
      const { status_code, error_code } = await get(`/api/v2/action/lookup?${query}`)
      assert.deepEqual([status_code, error_code], [503, 'SERVER_ERROR'])
    })

    test('answers in the form of Shlink', async () => {
      const { type, title, status } = await get('/rest/v3/tags', { 'X-Api-Key': keys.shlink })
      assert.deepEqual([type, title, status], ['about:blank', 'Service Unavailable', 503])
    })

    test('reports the health as failed, as Shlink does', async () => {
      const { status } = await get('/rest/health')
      assert.equal(status, 'fail')
    })
  })
}
