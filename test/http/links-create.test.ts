import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'

/** The fields of the specification's table, in its order. */
const LINK_FIELDS = [
  'id',
  'workspace_id',
  'domain',
  'key',
  'url',
  'link',
  'ios',
  'android',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
  'clicks',
  'last_click',
  'external_id',
  'password',
  'expires_at',
  'expired_redirect_url',
  'tags',
  'created_at',
  'updated_at',
]

for (const engine of ENGINES) {
  describe(`POST /api/v1/links on ${engine.name}`, () => {
    let service: Service
    let api: Api
    before(async () => {
      service = await startService(engine)
      api = await service.api()
    })
    after(() => service.stop())

    test('answers 201 with every field of the specification, in its order', async () => {
      const { body } = expectStatus(
        await api.post('/links', {
          domain: 'localhost',
          key: 'first',
          url: 'https://example.com/a',
        }),
        201,
      )
      assert.deepEqual(Object.keys(body), LINK_FIELDS)
      assert.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      assert.equal(body.updated_at, body.created_at)
      assert.equal(body.url, 'https://example.com/a')
      assert.equal(body.link, 'https://localhost/first')
      assert.equal(body.clicks, null)
      assert.deepEqual(body.tags, [])
      for (const field of LINK_FIELDS.slice(6, 20)) assert.equal(body[field], null, field)
    })

    test('makes a key of 7 unmistakable characters when none is given', async () => {
      const { body } = expectStatus(
        await api.post('/links', { domain: 'localhost', url: 'https://example.com/' }),
        201,
      )
      assert.match(body.key, /^[23456789abcdefghjkmnpqrstuvwxyz]{7}$/)
    })
  })
}
