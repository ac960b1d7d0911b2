import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { Failure } from '../platform/failure.ts'
import { type AuthenticationDependencies, authorize, mayStill } from './authentication.ts'

/** A person with a role in `w`, who authenticated long ago. */
function signedInAs(role: string | undefined) {
  const person = { id: 'p', name: 'Ada', is_operator: false }
  const membership = {
    workspace_id: 'w',
    workspace_name: 'acme',
    workspace_title: 'Acme',
    person_id: 'p',
    role,
  }
  const memberships = role === undefined ? [] : [membership]
  return { person, memberships, session: { authenticated_at: 0 } }
}

function dependencies(find: () => Promise<unknown>) {
  return {
    sessionCache: { find },
    sessionCookie: { read: () => 'secret' },
    clock: { nowMicros: () => 3_600_000_000 },
    baseUrl: 'https://go.example.com',
  } as unknown as AuthenticationDependencies
}

function exportRequest() {
  const config = { operation: 'workspace.export' }
  const routeOptions = { url: '/api/v1/export', config }
  const headers = { cookie: 'x', 'terse-workspace': 'w' }
  const request = { method: 'GET', headers, routeOptions, actor: null, signedIn: null }
  return request as unknown as FastifyRequest
}

describe('mayStill', () => {
  test('ignores how recent the authentication is, which only the start of an answer requires', async () => {
    const request = exportRequest()
    assert.equal(
      await mayStill(
        dependencies(async () => signedInAs('admin')),
        request,
      ),
      true,
    )
    assert.throws(() => authorize(request), { code: 'authentication_required' })
  })

  for (const [what, role] of [
    ['the role was changed', 'viewer'],
    ['the membership has ended', undefined],
  ] as const) {
    test(`is false once ${what}`, async () => {
      assert.equal(
        await mayStill(
          dependencies(async () => signedInAs(role)),
          exportRequest(),
        ),
        false,
      )
    })
  }

  test('is false once the session has ended, and true while that cannot be found out', async () => {
    assert.equal(
      await mayStill(
        dependencies(async () => undefined),
        exportRequest(),
      ),
      false,
    )
    const down = dependencies(async () => {
      throw Failure.unavailable(new Error('down'))
    })
    assert.equal(await mayStill(down, exportRequest()), true)
  })
})
