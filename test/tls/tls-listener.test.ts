import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import type { ConnectionOptions } from 'node:tls'
import { SecureContexts } from '../../src/certificates/tls/secure-contexts.ts'
import { TlsListener, type TlsListenerOptions } from '../../src/certificates/tls/tls-listener.ts'
import { handshake } from '../support/https.ts'
import { RawConnection } from '../support/raw-http.ts'
import { createTestAuthority, type IssuedCertificate } from '../support/test-authority.ts'

/** Far less than the time limit of a handshake. */
const STOP_MS_MAX = 9_000
const HOST = 'links.acme.test'
const CHALLENGED = 'new.acme.test'
const authority = createTestAuthority()
const known = new Map<string, IssuedCertificate>([[HOST, authority.issue(HOST)]])
const challenge = createTestAuthority('challenge')
const answers = new Map<string, IssuedCertificate>([
  [HOST, challenge.issue(HOST)],
  [CHALLENGED, challenge.issue(CHALLENGED)],
])

async function start(t: TestContext, isAway = false, options: Partial<TlsListenerOptions> = {}) {
  const contexts = new SecureContexts({
    async find(host) {
      if (isAway) throw new Error('away')
      const issued = known.get(host)
      if (issued === undefined) return undefined
      const { chainPem, keyPem } = issued
      const facts = { host, notBefore: 0, notAfter: 1, directory: '' }
      return { ...facts, chainPem, sealedKey: keyPem, ariId: null, renewalWindow: null }
    },
    open: ({ sealedKey, ...facts }) => ({ ...facts, keyPem: sealedKey }),
    onError: () => {},
    onUnusable: () => {},
  })
  const listener = new TlsListener({
    contexts,
    challenges: {
      async findAlpn(host) {
        if (isAway) throw new Error('away')
        return answers.get(host)
      },
    },
    prefersHttp2: () => false,
    onHttp1: (socket) => socket.end('hello'),
    onHttp2: (socket) => socket.end(),
    ...options,
  })
  listener.server.listen(0, '127.0.0.1')
  await once(listener.server, 'listening')
  t.after(async () => {
    const closed = listener.close()
    listener.closeAll()
    await closed
  })
  return { listener, port: (listener.server.address() as AddressInfo).port }
}

describe('the TLS listener', () => {
  const CHALLENGE: ConnectionOptions = { ALPNProtocols: ['acme-tls/1'], rejectUnauthorized: false }

  test('serves the challenge certificate only over acme-tls/1', async (t) => {
    const { port } = await start(t)
    for (const host of [HOST, CHALLENGED]) {
      const socket = await handshake(port, host, CHALLENGE)
      assert.equal(socket.alpnProtocol, 'acme-tls/1')
      assert.equal(socket.getPeerX509Certificate()?.issuer, 'CN=challenge')
      const [bytes] = await Promise.all([socket.toArray(), once(socket, 'close')])
      assert.deepEqual(bytes, [])
    }
    const visitor = await handshake(port, HOST, { ca: authority.certificatePem })
    assert.equal(visitor.getPeerX509Certificate()?.issuer, 'CN=Terse test authority')
    visitor.destroy()
    await assert.rejects(handshake(port, CHALLENGED, { rejectUnauthorized: false }))
    await assert.rejects(handshake(port, 'nobody.acme.test', CHALLENGE))
  })

  test('reports failed handshakes, and passes on the connection of each successful one', async (t) => {
    const errors: Error[] = []
    const raws: unknown[] = []
    const accepted: unknown[] = []
    const { port } = await start(t, false, {
      accept: (socket) => accepted.push(socket) > 0,
      onHttp1(socket, raw) {
        raws.push(raw)
        socket.end()
      },
      onHandshakeError: (error) => errors.push(error),
    })
    await assert.rejects(handshake(port, 'nobody.acme.test', { rejectUnauthorized: false }))
    const socket = await handshake(port, HOST, { ca: authority.certificatePem })
    await once(socket.resume(), 'close')
    assert.equal(errors.length, 1)
    assert.equal(accepted.length, 2)
    assert.deepEqual(raws, accepted.slice(1))
  })

  test('starts no handshake on a rejected connection', async (t) => {
    const { port } = await start(t, false, {
      accept(socket) {
        socket.destroy()
        return false
      },
      onHandshakeError: () => assert.fail('there was no handshake'),
    })
    await assert.rejects(handshake(port, HOST, { ca: authority.certificatePem }))
  })

  test('fails handshakes while the store is unavailable, and recovers afterwards', async (t) => {
    const { port } = await start(t, true)
    for (const options of [{}, CHALLENGE]) {
      await assert.rejects(handshake(port, HOST, { ...options, rejectUnauthorized: false }))
    }
    await assert.rejects(handshake(port, HOST, { rejectUnauthorized: false }))
  })

  test('stops without waiting for connections that have sent nothing', {
    timeout: STOP_MS_MAX,
  }, async (t) => {
    const { listener, port } = await start(t)
    const silent = await RawConnection.open(port)
    const [connected] = [once(listener.server, 'connection')]
    const other = await RawConnection.open(port)
    await connected
    const closed = listener.close()
    listener.closeIdle()
    await closed
    for (const connection of [silent, other]) {
      assert.deepEqual(await connection.answersUntilClosed(STOP_MS_MAX), [])
    }
  })
})
