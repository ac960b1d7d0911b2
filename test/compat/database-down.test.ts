import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { COMPAT_SERVICES } from '@terse/contract/compat-services'
import { compatToken } from '../support/compat.ts'
import { closeDatabase, reopenDatabase } from '../support/database-access.ts'
import { ENGINES } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'

// SQLite is in-process and cannot become unavailable.
for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('the APIs of other services, while PostgreSQL is down', () => {
    let service: Service
    const keys = { bitly: '', kutt: '', polr: '', shlink: '', yourls: '' }
    before(async () => {
      service = await startService(engine)
      for (const name of COMPAT_SERVICES) keys[name] = await compatToken(service, `compat:${name}`)
      await closeDatabase(service.place)
    })
    after(async () => {
      await reopenDatabase(service.place)
      await service.stop()
    })

    async function send(path: string, init: RequestInit = {}): Promise<string> {
      const response = await fetch(`${service.baseUrl}${path}`, init)
      assert.equal(response.status, 503)
      assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
      return response.text()
    }

    const get = async (
      path: string,
      headers: Record<string, string> = {},
    ): Promise<Record<string, unknown>> => JSON.parse(await send(path, { headers }))

    test('answers in the form of Kutt', async () => {
      const { error, ...rest } = await get('/api/v2/links', { 'X-API-Key': keys.kutt })
      assert.deepEqual([typeof error, rest], ['string', {}])
    })

    test('answers in the form of Polr', async () => {
      const query = `key=${keys.polr}&url_ending=a&response_type=json`
      const { status_code, error_code } = await get(`/api/v2/action/lookup?${query}`)
      assert.deepEqual([status_code, error_code], [503, 'SERVER_ERROR'])
    })

    test('answers in the text of Polr, where no other form is asked for', async () => {
      const text = await send(`/api/v2/action/shorten?key=${keys.polr}&url=https://a.example/`)
      assert.match(text, /^503 \S/)
    })

    test('answers in the form of Bitly', async () => {
      const Authorization = `Bearer ${keys.bitly}`
      const { message, description, resource } = await get('/v4/user', { Authorization })
      assert.deepEqual(
        [message, typeof description, resource],
        ['TEMPORARILY_UNAVAILABLE', 'string', 'user'],
      )
    })

    test('answers in the forms of YOURLS, also to signatures of the time', async () => {
      const post = (fields: Record<string, string>) =>
        send('/yourls-api.php', { method: 'POST', body: new URLSearchParams(fields) })
      const shorten = { action: 'shorturl', url: 'https://a.example/' }
      const timestamp = String(Math.floor(Date.now() / 1_000))
      const signature = createHash('md5')
        .update(timestamp + keys.yourls)
        .digest('hex')
      for (const login of [{ signature: keys.yourls }, { timestamp, signature }]) {
        const { errorCode, message } = JSON.parse(
          await post({ ...shorten, ...login, format: 'json' }),
        )
        assert.deepEqual([errorCode, typeof message], ['503', 'string'])
      }
      const login = { ...shorten, signature: keys.yourls }
      assert.match(await post({ ...login, format: 'xml' }), /<errorCode>503<\/errorCode>/)
      assert.match(await post({ ...login, format: 'simple' }), /^[^:/]+\.$/)
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
