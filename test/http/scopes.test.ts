import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SCOPES, type Scope } from '../../src/identity/permissions.ts'
import { type Answer, apiClient } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { type Operation, readOperations, UNKNOWN_ID, validRequest } from '../support/operations.ts'
import { MAY_READ, startSite } from '../support/page-of-others.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

/** QR codes and explanations need the scope for reading, although bodies are sent for them. */
function scopeOf({ family, method, template }: Operation): Scope {
  if (family === 'clicks' || template.includes('/clicks')) return 'clicks:read'
  if (family === 'events' || template === '/export') return 'workspace:admin'
  if (family === 'workspace') return 'links:read'
  // The contents of a file are shown only to a token that may import it.
  if (template.endsWith('/variants')) return 'clicks:read'
  if (template.endsWith('/columns')) return 'links:write'
  if (
    family === 'tags' ||
    family === 'utm-templates' ||
    family === 'rule-sets' ||
    family === 'previews' ||
    family === 'images' ||
    family === 'imports'
  ) {
    return method === 'GET' ? 'links:read' : 'links:write'
  }
  if (family === 'labels') return method === 'GET' ? 'links:read' : 'workspace:admin'
  if (template === '/conversions/settings')
    return method === 'GET' ? 'links:read' : 'workspace:admin'
  if (family === 'conversions') return `conversions:${method === 'GET' ? 'read' : 'write'}`
  if (family === 'webhooks') return `webhooks:${method === 'GET' ? 'read' : 'write'}`
  const reads = method === 'GET' || /\/(qr-code|explain)$/.test(template)
  return `${family === 'default-domain' ? 'domains' : family}:${reads ? 'read' : 'write'}`
}

describe('scopes', () => {
  let service: Service
  let site: Awaited<ReturnType<typeof startSite>>
  let operations: readonly Operation[]
  const secrets = new Map<string, string>()
  before(async () => {
    service = await startService(SQLITE, MAY_READ)
    site = await startSite()
    operations = await readOperations(service.baseUrl, site.url)
    for (const scope of SCOPES) {
      const others = SCOPES.filter((other) => other !== scope)
      secrets.set(`only ${scope}`, await service.token('acme', [scope]))
      secrets.set(`all but ${scope}`, await service.token('acme', others))
    }
  })
  after(() => Promise.all([service.stop(), site[Symbol.asyncDispose]()]))

  const send = (operation: Operation, secret: string | undefined): Promise<Answer> =>
    apiClient(service.baseUrl, secret).send(
      operation.method,
      operation.pathFor(UNKNOWN_ID),
      validRequest(operation),
    )

  test('the OpenAPI document contains all operations', () => {
    assert.ok(operations.length >= 28, operations.map(({ name }) => name).join('\n'))
  })

  test('every operation returns 401 without a token', async () => {
    for (const operation of operations) {
      const answer = expectProblem(await send(operation, undefined), 'unauthorized')
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer\b/, operation.name)
    }
  })

  test('every operation returns 403 for a token that lacks only its scope, and names the scope', async () => {
    for (const operation of operations) {
      const scope = scopeOf(operation)
      const answer = await send(operation, secrets.get(`all but ${scope}`))
      assert.equal(answer.status, 403, operation.name)
      expectProblem(answer, 'missing_scope')
      const challenge = answer.headers.get('www-authenticate')
      assert.equal(challenge, 'Bearer error="insufficient_scope"')
      assert.ok(answer.body.message.includes(scope), answer.body.message)
    }
  })

  test('every operation accepts a token with its scope alone', async () => {
    // A webhook also needs the scopes of what it is sent: test/http/webhooks.test.ts.
    for (const operation of operations.filter(({ name }) => name !== 'POST /api/v1/webhooks')) {
      const answer = await send(operation, secrets.get(`only ${scopeOf(operation)}`))
      const expected = operation.takesId ? 404 : operation.success
      assert.equal(answer.status, expected, `${operation.name}: ${JSON.stringify(answer.body)}`)
    }
  })

  test('HEAD requires the scope of GET', async () => {
    for (const operation of operations.filter(({ method }) => method === 'GET')) {
      const head = { ...operation, method: 'HEAD' }
      const scope = scopeOf(operation)
      assert.equal((await send(head, undefined)).status, 401, operation.name)
      assert.equal((await send(head, secrets.get(`all but ${scope}`))).status, 403)
      const found = operation.takesId ? 404 : 200
      assert.equal((await send(head, secrets.get(`only ${scope}`))).status, found)
    }
  })

  test('a refused request changes nothing', async () => {
    const reader = apiClient(service.baseUrl, await service.token('untouched', ['links:read']))
    const sent = { domain: 'localhost', key: 'refused', url: 'https://example.com/' }
    expectProblem(await reader.post('/links', sent), 'missing_scope')
    assert.equal((await reader.get('/links')).body.meta.total, 0)
  })
})
