import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'

const PREFIX = '/api/v1'

/** The creates whose answer names the path of what was created, with a body for each. */
const CREATES: Readonly<Record<string, object>> = {
  '/links': { domain: 'localhost', url: 'https://example.com/' },
  '/domains': { domain: 'located.acme.test' },
  '/utm-templates': { name: 'spring', utm_source: 'mail' },
  '/rule-sets': { name: 'by country' },
  '/imports': { source: 'csv' },
  '/webhooks': { url: 'https://hooks.example.com/', events: ['link.created'] },
}

describe('Location of what was created', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api()
  })
  after(() => service.stop())

  for (const [path, body] of Object.entries(CREATES)) {
    test(`leads from POST ${path} to what was created`, async () => {
      const answer = expectStatus(await api.post(path, body), 201)
      const location = answer.headers.get('location') ?? ''
      assert.equal(location, `${PREFIX}${path}/${answer.body.id}`)
      const shown = expectStatus(await api.get(location.slice(PREFIX.length)), 200)
      assert.equal(shown.body.id, answer.body.id)
      assert.match(answer.headers.get('access-control-expose-headers') ?? '', /\bLocation\b/)
    })
  }

  test('is absent where nothing was created, and where no GET shows it', async () => {
    const read = expectStatus(await api.get('/links'), 200)
    assert.equal(read.headers.get('location'), null)
    const admin = await service.api('acme', ['workspace:admin', 'links:read'])
    const sent = { name: 'reader', scopes: ['links:read'] }
    const token = expectStatus(await admin.post('/tokens', sent), 201)
    assert.equal(token.headers.get('location'), null)
  })

  test('is described for the operations that have it', () => {
    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
    const described = Object.keys(paths).filter(
      (path) => paths[path].post?.responses['201']?.headers?.Location !== undefined,
    )
    const expected = [...Object.keys(CREATES), '/workspaces'].map((path) => PREFIX + path)
    assert.deepEqual(described.sort(), expected.sort())
  })
})
