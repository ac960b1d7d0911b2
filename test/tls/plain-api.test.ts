import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { keepCertificate } from '../support/https.ts'
import { RawConnection } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { visit } from '../support/visit.ts'

const OWN = 'go.acme.test'
const ANSWER_MS_MAX = 20_000

describe('the API over plain HTTP, beside HTTPS', () => {
  let service: Service
  let port: number
  let token: string
  before(async () => {
    port = await freePort()
    service = await startService(SQLITE, {
      TERSE_TLS: 'auto',
      TERSE_HTTPS_PORT: String(port),
      TERSE_BASE_URL: `https://${OWN}:${port}`,
      TERSE_TRUST_PROXY: '127.0.0.1',
    })
    token = await service.token()
  })
  after(() => service.stop())

  test('answers while the host has no certificate', async () => {
    const answer = await visit(service.port, '/api/v1/links', { host: OWN })
    assert.equal(answer.status, 401)
    await keepCertificate(service.instance, OWN, createTestAuthority().issue(OWN))
  })

  test('answers 426, and never redirects, once the host has a certificate', async () => {
    const authorization = `Bearer ${token}`
    for (const [method, path, headers] of [
      ['GET', '/api/v1/links', { authorization }],
      ['GET', '/api/v1/openapi.json', {}],
      ['POST', '/api/v1/links', { authorization, 'content-type': 'application/json' }],
      ['DELETE', '/api/v1/links/x', {}],
      ['OPTIONS', '/api/v1/links', {}],
      ['GET', '/API/v1/links', { authorization }],
      ['GET', '/docs', { authorization }],
    ] as const) {
      const answer = await visit(service.port, path, { host: OWN, method, headers })
      assert.equal(answer.status, 426, `${method} ${path}`)
      assert.equal(answer.headers.location, undefined)
      assert.equal(answer.headers.upgrade, 'TLS/1.2, HTTP/1.1')
      assert.equal(answer.headers['cache-control'], 'no-store')
      const { code, message } = JSON.parse(answer.body)
      assert.equal(code, 'https_required')
      assert.ok(message.includes(`https://${OWN}:${port}.`), message)
      assert.equal(message.includes('revoke'), 'authorization' in headers)
      assert.ok(!answer.body.includes(token))
    }
    const head = await visit(service.port, '/api/v1/links', { host: OWN, method: 'HEAD' })
    assert.deepEqual([head.status, head.body], [426, ''])
    assert.equal((await visit(service.port, '/docs', { host: OWN })).status, 301)
  })

  test('keeps the connection open for the next request', async () => {
    const connection = await RawConnection.open(service.port)
    for (let nth = 1; nth <= 2; nth += 1) {
      const body = '{"domain":"localhost"}'
      connection.write(
        `POST /api/v1/links HTTP/1.1\r\nHost: ${OWN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      assert.equal((await connection.nextAnswer(ANSWER_MS_MAX))?.status, 426)
    }
    connection.destroy()
  })

  test('answers when a trusted proxy reports that the request came over HTTPS', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
    assert.equal((await visit(service.port, '/api/v1/links', { host: OWN, headers })).status, 401)
  })
})
