import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { Agent } from 'node:https'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventReader } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { handshake, keepCertificate, visitOverHttp2, visitSecurely } from '../support/https.ts'
import { headerOf, RawConnection } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { visit } from '../support/visit.ts'

const DESTINATION = 'https://example.com/there'
const OWN = 'go.acme.test'
const DOMAIN = 'links.acme.test'
const UNCERTIFIED = 'later.acme.test'
const EXPIRED = 'late.acme.test'
const REFUSED = { code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE' }
const ANSWER_MS_MAX = 20_000
const STOP_MS_MAX = 8_000
/** The most live streams of one workspace. */
const LIVE_STREAMS_MAX = 10
const BOTH = ['h2', 'http/1.1']

for (const fast of ['on', 'off']) {
  describe(`HTTPS, with fast redirects ${fast}`, () => {
    const authority = createTestAuthority()
    const ca = authority.certificatePem
    let service: Service
    let port: number
    let token: string

    before(async () => {
      port = await freePort()
      service = await startService(SQLITE, {
        TERSE_TLS: 'auto',
        TERSE_HTTPS_PORT: String(port),
        TERSE_BASE_URL: `https://${OWN}:${port}`,
        TERSE_DOMAIN_PROOF: 'none',
        TERSE_FAST_REDIRECTS: fast,
        TERSE_TRUST_PROXY: '127.0.0.1',
        TERSE_HSTS_SECONDS: '600',
      })
      token = await service.token()
      await seed()
      for (const host of [OWN, DOMAIN]) {
        await keepCertificate(service.instance, host, authority.issue(host))
      }
      const past = { notBefore: new Date(Date.now() - 9e6), notAfter: new Date(Date.now() - 1e6) }
      await keepCertificate(service.instance, EXPIRED, authority.issue(EXPIRED, past))
    })
    after(() => service.stop())

    async function seed(): Promise<void> {
      for (const domain of [OWN, DOMAIN, UNCERTIFIED, EXPIRED]) {
        const answer = await visit(service.port, '/api/v1/links', {
          host: '127.0.0.1',
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ domain, key: 'x', url: DESTINATION }),
        })
        assert.equal(answer.status, 201, answer.body)
      }
    }

    test('serves each host its own certificate, and its links', async () => {
      for (const host of [OWN, DOMAIN]) {
        const socket = await handshake(port, host, { ca })
        assert.equal(socket.getPeerX509Certificate()?.checkHost(host), host)
        socket.destroy()
        const answer = await visitSecurely(port, host, '/x?q=1', { ca })
        assert.equal(answer.status, 302)
        assert.equal(answer.headers.location, `${DESTINATION}?q=1`)
      }
    })

    test('answers visits, the API and visits again on one connection', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (const [path, status] of [
        ['/x', 302],
        ['/x', 302],
        ['/api/v1/links', 401],
        ['/x', 302],
        ['/nothing', 404],
      ] as const) {
        const answer = await visitSecurely(port, OWN, path, { ca, agent })
        assert.equal(answer.status, status, path)
      }
      assert.equal(Object.values(agent.freeSockets).flat().length, 1)
      agent.destroy()
    })

    test('rejects handshakes for names without a certificate, and without a name', async () => {
      for (const name of [UNCERTIFIED, 'stranger.test', `x.${DOMAIN}`, 'a_b', undefined]) {
        for (const options of [{}, { ALPNProtocols: BOTH }, { maxVersion: 'TLSv1.2' }] as const) {
          const attempt = handshake(port, name, { ...options, rejectUnauthorized: false })
          await assert.rejects(attempt, REFUSED, name)
        }
      }
    })

    test('negotiates HTTP/2 on its own host, and elsewhere only with clients that offer nothing else', async () => {
      for (const [host, offered, chosen] of [
        [OWN, BOTH, 'h2'],
        [OWN, ['http/1.1'], 'http/1.1'],
        [DOMAIN, BOTH, 'http/1.1'],
        [DOMAIN, ['h2'], 'h2'],
      ] as const) {
        const socket = await handshake(port, host, { ca, ALPNProtocols: [...offered] })
        assert.equal(socket.alpnProtocol, chosen)
        socket.destroy()
      }
      await assert.rejects(handshake(port, OWN, { ca, ALPNProtocols: ['spdy/3'] }))
    })

    test('answers the API, its reference and visits over HTTP/2', async () => {
      const headers = { authorization: `Bearer ${token}` }
      const listed = await visitOverHttp2(port, OWN, '/api/v1/links', { ca, headers })
      assert.equal(listed.status, 200, listed.body)
      assert.equal(JSON.parse(listed.body).data.length, 4)
      const made = await visitOverHttp2(port, OWN, '/api/v1/links', {
        ca,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ domain: DOMAIN, key: `h2-${fast}`, url: DESTINATION }),
      })
      assert.equal(made.status, 201, made.body)
      const exported = await visitOverHttp2(port, OWN, '/api/v1/clicks/export?format=csv', {
        ca,
        headers,
      })
      assert.equal(exported.status, 200, exported.body)
      assert.match(exported.body, /^"at","link_id",[\w",]+\r\n/)
      const docs = await visitOverHttp2(port, OWN, '/docs/', { ca })
      assert.equal(docs.status, 200)
      assert.match(docs.body, /<html/)
      const visited = await visitOverHttp2(port, DOMAIN, `/h2-${fast}`, { ca })
      assert.equal(visited.status, 302)
      assert.equal(visited.headers.location, DESTINATION)
      const missing = await visitOverHttp2(port, DOMAIN, '/missing', { ca })
      assert.equal(missing.status, 404)
      assert.match(missing.body, /<html/)
    })

    test('streams clicks over HTTP/2 while the connection answers other requests', async () => {
      const authorization = `Bearer ${token}`
      const made = await visitOverHttp2(port, OWN, '/api/v1/links', {
        ca,
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ domain: OWN, key: `live-${fast}`, url: DESTINATION }),
      })
      const live = `/api/v1/clicks/live?link=${JSON.parse(made.body).id}`
      const socket = await handshake(port, OWN, { ca, ALPNProtocols: ['h2'] })
      const session = connect(`https://${OWN}`, { createConnection: () => socket })
      const open = () => session.request({ ':path': live, authorization })
      const statusOf = async (stream: ReturnType<typeof open>) =>
        (await once(stream, 'response'))[0][':status']
      try {
        const stream = open()
        const [headers] = await once(stream, 'response')
        assert.equal(headers[':status'], 200)
        assert.match(String(headers['content-type']), /^text\/event-stream/)
        const parts = stream.setEncoding('utf8')[Symbol.asyncIterator]()
        const next = eventReader(async () => (await parts.next()).value)
        assert.equal((await next())?.event, 'start')

        const other = session.request({ ':path': '/api/v1/links', authorization })
        assert.equal(await statusOf(other), 200)
        other.resume()
        await once(other, 'close')

        assert.equal((await visitSecurely(port, OWN, `/live-${fast}`, { ca })).status, 302)
        const clicked = await next()
        assert.equal(clicked?.event, 'clicks')
        assert.deepEqual(
          clicked.data.clicks.map(({ key }: { key: string }) => key),
          [`live-${fast}`],
        )

        const others = Array.from({ length: LIVE_STREAMS_MAX - 1 }, open)
        assert.deepEqual(new Set(await Promise.all(others.map(statusOf))), new Set([200]))
        for (const one of [stream, ...others]) one.close(constants.NGHTTP2_CANCEL)
        // Their places are free again once the server has seen that they are closed.
        await eventually(async () => {
          const again = open()
          const status = await statusOf(again)
          // A refusal ends by itself; many streams that are reset end the session.
          if (status === 200) again.close(constants.NGHTTP2_CANCEL)
          else again.resume()
          assert.equal(status, 200)
        })
      } finally {
        session.destroy()
      }
    })

    test("accepts a link's password over HTTP/2, and sets the cookie for HTTPS only", async () => {
      const key = `secret-${fast}`
      const made = await visitOverHttp2(port, OWN, '/api/v1/links', {
        ca,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domain: OWN, key, url: DESTINATION, password: 'sesame' }),
      })
      assert.equal(made.status, 201, made.body)
      for (const send of [visitOverHttp2, visitSecurely]) {
        const answer = await send(port, OWN, `/${key}`, {
          ca,
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'password=sesame',
        })
        assert.equal(answer.status, 303, answer.body)
        assert.match(String(answer.headers['set-cookie']), /; Secure$/)
      }
    })

    test('redirects plain HTTP to HTTPS when the host has a valid certificate', async () => {
      const sent = await visit(service.port, '/x?q=a%20b', { host: `${DOMAIN.toUpperCase()}:80` })
      assert.equal(sent.status, 301)
      assert.equal(sent.headers.location, `https://${DOMAIN}:${port}/x?q=a%20b`)
      assert.equal(sent.headers['cache-control'], 'private, no-store')
      const posted = await visit(service.port, '/protected', { host: DOMAIN, method: 'POST' })
      assert.equal(posted.status, 308)
      assert.equal(posted.headers.location, `https://${DOMAIN}:${port}/protected`)
      for (const host of [UNCERTIFIED, EXPIRED]) {
        const answer = await visit(service.port, '/x', { host })
        assert.equal(answer.status, 302)
        assert.equal(answer.headers.location, DESTINATION)
      }
    })

    test('redirects pipelined plain requests on one connection, in order', async () => {
      const host = `fresh-${fast}.acme.test`
      await keepCertificate(service.instance, host, authority.issue(host))
      for (let round = 1; round <= 2; round += 1) {
        const connection = await RawConnection.open(service.port)
        for (let nth = 1; nth <= 2; nth += 1) {
          connection.write(`GET /x?q=${nth} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
          const answer = await connection.nextAnswer(ANSWER_MS_MAX)
          assert.ok(answer)
          assert.equal(answer.status, 301)
          assert.equal(headerOf(answer, 'location'), `https://${host}:${port}/x?q=${nth}`)
          assert.equal(headerOf(answer, 'cache-control'), 'private, no-store')
        }
        connection.destroy()
      }
    })

    test('redirects any request target unchanged, and never to another host', async () => {
      const base = `https://${DOMAIN}:${port}`
      for (const [line, location] of [
        ['GET /%0d%0aa:%20b HTTP/1.1', `${base}/%0d%0aa:%20b`],
        ['GET //evil.test/ HTTP/1.1', `${base}//evil.test/`],
        ['GET /\\evil.test HTTP/1.1', `${base}/\\evil.test`],
        [`GET http://${DOMAIN}/x HTTP/1.1`, `${base}/x`],
        [`GET http://${DOMAIN}:80?q HTTP/1.1`, `${base}/?q`],
      ] as const) {
        const connection = await RawConnection.open(service.port)
        connection.write(`${line}\r\nHost: ${DOMAIN}\r\nConnection: close\r\n\r\n`)
        const [answer] = await connection.answersUntilClosed(ANSWER_MS_MAX)
        assert.ok(answer)
        assert.equal(answer.status, 301, line)
        assert.equal(headerOf(answer, 'location'), location)
      }
    })

    test('answers 404 to challenge requests that no authority has asked for', async () => {
      for (const host of [OWN, DOMAIN, UNCERTIFIED, 'stranger.test']) {
        const path = '/.well-known/acme-challenge/token'
        assert.equal((await visit(service.port, path, { host })).status, 404)
        const posted = await visit(service.port, path, { host, method: 'POST' })
        assert.equal(posted.status, 405)
      }
    })

    test('does not redirect a visitor who reached a trusted proxy over HTTPS', async () => {
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
      const answer = await visit(service.port, '/x', { host: DOMAIN, headers })
      assert.equal(answer.status, 302)
      assert.equal(answer.headers.location, DESTINATION)
    })

    test('counts the visit over HTTPS, not the redirect to it', async () => {
      const made = await visitSecurely(port, OWN, '/api/v1/links', {
        ca,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domain: DOMAIN, key: `counted-${fast}`, url: DESTINATION }),
      })
      assert.equal(made.status, 201, made.body)
      assert.equal((await visit(service.port, `/counted-${fast}`, { host: DOMAIN })).status, 301)
      assert.equal((await visitSecurely(port, DOMAIN, `/counted-${fast}`, { ca })).status, 302)
      const { id } = JSON.parse(made.body)
      const api = await service.api()
      const clicks = async () => expectStatus(await api.get(`/links/${id}`), 200).body.clicks
      await eventually(async () => assert.equal(await clicks(), 1))
    })

    test('sends HSTS on its own host as configured, over HTTPS only', async () => {
      const name = 'strict-transport-security'
      for (const path of ['/x', '/api/v1/links', '/missing']) {
        const answer = await visitSecurely(port, OWN, path, { ca })
        assert.equal(answer.headers[name], 'max-age=600', path)
      }
      assert.equal((await visitSecurely(port, DOMAIN, '/x', { ca })).headers[name], undefined)
      assert.equal((await visit(service.port, '/x', { host: OWN })).headers[name], undefined)
    })

    test('survives connections that send no handshake', async () => {
      for (const bytes of ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', '\x16\x03\x01\x00\x05hello', '']) {
        const connection = await RawConnection.open(port)
        connection.write(bytes)
        connection.destroy()
      }
      assert.equal((await visitSecurely(port, DOMAIN, '/x', { ca })).status, 302)
    })
  })
}

test('without TERSE_TLS plain HTTP is not redirected, even with a certificate', async (t) => {
  const service = await startService(SQLITE)
  t.after(() => service.stop())
  const authority = createTestAuthority()
  await keepCertificate(service.instance, 'localhost', authority.issue('localhost'))
  const answer = await visit(service.port, '/docs', { host: 'localhost' })
  assert.notEqual(answer.headers.location?.startsWith('https'), true)
})

test('stops without waiting for idle HTTPS connections', {
  timeout: 30_000,
}, async () => {
  const port = await freePort()
  const authority = createTestAuthority()
  const ca = authority.certificatePem
  const service = await startService(SQLITE, {
    TERSE_TLS: 'auto',
    TERSE_HTTPS_PORT: String(port),
    TERSE_BASE_URL: `https://${OWN}`,
  })
  await keepCertificate(service.instance, OWN, authority.issue(OWN))
  const silent = await RawConnection.open(port)
  const idle = await handshake(port, OWN, { ca, ALPNProtocols: ['http/1.1'] })
  const socket = await handshake(port, OWN, { ca, ALPNProtocols: ['h2'] })
  const session = connect(`https://${OWN}`, { createConnection: () => socket })
  const stream = session.request({ ':path': '/livez' })
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 200)
  await stream.toArray()
  const closed = once(session, 'close')
  const startedMs = performance.now()
  await service.stop()
  assert.ok(performance.now() - startedMs < STOP_MS_MAX)
  await closed
  for (const connection of [silent, idle]) connection.destroy()
})
