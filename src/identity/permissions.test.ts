import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fastify from 'fastify'
import { systemActor, tokenActor } from './actor.ts'
import { OPERATION_PERMISSIONS, type Operation, requirePermission } from './permissions.ts'
import { nameOperations } from './tokens/authentication.ts'
import { SCOPES, type Scope } from './tokens/scope.ts'

type Description = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string }>>>
  >
}

const OPERATIONS = Object.keys(OPERATION_PERMISSIONS) as Operation[]

function actorWith(scopes: readonly Scope[]) {
  const times = { created_at: 0, expires_at: null, last_used_at: null, revoked_at: null }
  return tokenActor({ id: 't', workspace_id: 'w', name: 'test', scopes, ...times })
}

describe('OPERATION_PERMISSIONS', () => {
  test('has an entry for each operation of the API description, and no other', () => {
    const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
    const { paths } = JSON.parse(text) as Description
    const described = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId }) => operationId)
    assert.deepEqual(OPERATIONS.toSorted(), described.toSorted())
  })
})

describe('requirePermission', () => {
  test('accepts exactly one scope of a token for each operation, and names it otherwise', () => {
    const needed = OPERATIONS.map((operation) => {
      const accepted = SCOPES.filter((scope) => {
        try {
          requirePermission(actorWith([scope]), operation)
          return true
        } catch {
          return false
        }
      })
      const [scope] = accepted
      assert.equal(accepted.length, 1, operation)
      assert.throws(() => requirePermission(actorWith([]), operation), {
        code: 'missing_scope',
        message: `This token lacks the scope ${scope}.`,
      })
      return [operation, scope]
    })
    assert.deepEqual(Object.fromEntries(needed), {
      'links.list': 'links:read',
      'links.get': 'links:read',
      'links.getQrCode': 'links:read',
      'links.drawQrCode': 'links:read',
      'links.create': 'links:write',
      'links.update': 'links:write',
      'links.patch': 'links:write',
      'links.delete': 'links:write',
      'links.getClicks': 'clicks:read',
      'links.exportClicks': 'clicks:read',
      'domains.list': 'domains:read',
      'domains.get': 'domains:read',
      'domains.getDns': 'domains:read',
      'domains.getHttps': 'domains:read',
      'domains.create': 'domains:write',
      'domains.verify': 'domains:write',
      'domains.update': 'domains:write',
      'domains.patch': 'domains:write',
      'domains.updateHttps': 'domains:write',
      'domains.delete': 'domains:write',
      'domains.getClicks': 'clicks:read',
      'domains.exportClicks': 'clicks:read',
      'clicks.get': 'clicks:read',
      'clicks.export': 'clicks:read',
      'workspace.getUsage': 'links:read',
      'events.list': 'workspace:admin',
    })
  })

  test('accepts every operation of a part of the service', () => {
    const actor = systemActor('test')('w')
    for (const operation of OPERATIONS) requirePermission(actor, operation)
  })
})

describe('nameOperations', () => {
  test('refuses a described route without a permission, which would be open to all', () => {
    const app = fastify()
    nameOperations(app)
    const add = (operationId?: string) =>
      app.get('/api/v1/secrets', { schema: { ...(operationId && { operationId }) } }, () => '')
    assert.throws(() => add('secrets.list'), /\/api\/v1\/secrets has no permission: secrets\.list/)
    assert.throws(() => add(), /has no permission: undefined/)
  })
})
