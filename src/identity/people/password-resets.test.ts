import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PasswordResets } from './password-resets.ts'

test('a request for a link returns before the account is looked up', () => {
  const lookedUp: string[] = []
  const throttle = { take: () => ({ allowed: true, resetSeconds: 0 }) }
  const findForSignIn = (email: string) => {
    lookedUp.push(email)
    return new Promise(() => {})
  }
  const resets = new PasswordResets({
    store: { isAvailable: () => true, read: { people: { findForSignIn } } },
    mailer: { send: () => assert.fail('sent'), stop: async () => {} },
    mailsPerAccount: throttle,
    requestsPerAddress: throttle,
    baseUrl: 'https://go.example.com',
    onError: assert.ifError,
  } as unknown as ConstructorParameters<typeof PasswordResets>[0])
  // Neither look-up ever ends, and each request has returned.
  assert.equal(resets.request('ada@example.com', '192.0.2.1', 'en'), undefined)
  assert.equal(resets.request('nobody@example.com', '192.0.2.1', 'en'), undefined)
  assert.deepEqual(lookedUp, ['ada@example.com', 'nobody@example.com'])
})
