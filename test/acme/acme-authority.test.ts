import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { OctetString, Primitive } from 'asn1js'
import { type AcmeOptions, acmeAuthority } from '../../src/certificates/acme/acme-authority.ts'
import {
  alpnCertificate,
  extension,
  renewalIdOf,
  selfSigned,
  sequence,
} from '../../src/certificates/acme/x509.ts'
import { newKeyPem } from '../../src/certificates/certificate.ts'
import { AuthorityError } from '../../src/certificates/certificate-authority.ts'
import { fakeClock } from '../support/fake-clock.ts'

type Answer = {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

const NOW_MS = Date.UTC(2026, 5, 1)

/** What Pebble cannot do: an authority that gives the answers that a test sets. */
describe('the ACME client', () => {
  const own = selfSigned('localhost', Date.now())
  const payloads: { path: string; payload: Record<string, unknown> }[] = []
  let base = ''
  let answers: Record<string, Answer | ((payload: Record<string, unknown>) => Answer)> = {}
  const server = createServer({ cert: own.chainPem, key: own.keyPem }, answer)
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    base = `https://localhost:${(server.address() as AddressInfo).port}`
  })
  after(() => server.close())

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const text = (await request.setEncoding('utf8').toArray()).join('')
    const encoded = text === '' ? '' : JSON.parse(text).payload
    const payload = encoded === '' ? {} : JSON.parse(Buffer.from(encoded, 'base64url').toString())
    payloads.push({ path, payload })
    const found = answers[path] ?? DEFAULTS[path]?.() ?? { status: 404 }
    const {
      status = 200,
      headers = {},
      body,
    } = typeof found === 'function' ? found(payload) : found
    response.writeHead(status, { 'replay-nonce': 'n0nce', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  const directory = (more: object = {}) => ({
    body: {
      newNonce: `${base}/nonce`,
      newAccount: `${base}/account`,
      newOrder: `${base}/order`,
      ...more,
    },
  })
  const order = (status = 'pending') => ({
    status,
    authorizations: [`${base}/authz`],
    finalize: `${base}/finalize`,
  })
  const DEFAULTS: Record<string, () => Answer> = {
    '/dir': () => directory({ renewalInfo: `${base}/renewal/` }),
    '/nonce': () => ({}),
    '/order': () => ({ status: 201, headers: { location: `${base}/order/1` }, body: order() }),
  }

  const open = (options: Partial<AcmeOptions> = {}) =>
    acmeAuthority({
      directory: `${base}/dir`,
      email: undefined,
      external: undefined,
      trusted: [own.chainPem],
      profile: undefined,
      clock: fakeClock(NOW_MS),
      ...options,
    })
  const account = async () => ({ url: `${base}/account/1`, keyPem: await newKeyPem() })
  const problem = (type: string, detail = 'why') => ({
    type: `urn:ietf:params:acme:error:${type}`,
    detail,
  })

  async function expectTrouble(
    promise: Promise<unknown>,
    trouble: string,
  ): Promise<AuthorityError> {
    const error = await promise.then(
      () => assert.fail('it was done'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof AuthorityError, String(error))
    assert.equal(error.kind, trouble)
    return error
  }

  test("returns the authority's advice on renewal, and when to ask again", async () => {
    answers = {
      '/renewal/aki.serial': {
        headers: { 'retry-after': '21600' },
        body: {
          suggestedWindow: { start: '2026-06-03T00:00:00Z', end: '2026-06-03T12:00:00+02:00' },
        },
      },
    }
    assert.deepEqual(await open().findRenewalInfo('aki.serial'), {
      window: { start: Date.UTC(2026, 5, 3) * 1_000, end: Date.UTC(2026, 5, 3, 10) * 1_000 },
      retryAfterMs: 21_600_000,
    })
    answers = { '/dir': directory() }
    assert.equal(await open().findRenewalInfo('aki.serial'), undefined)
    answers = {
      '/renewal/aki.serial': { body: { suggestedWindow: { start: 'soon', end: 'later' } } },
    }
    await expectTrouble(open().findRenewalInfo('aki.serial'), 'unavailable')
  })

  test('names the replaced certificate in an order, and repeats the order without it when the authority rejects that', async () => {
    answers = {}
    payloads.length = 0
    const placed = await open().placeOrder(await account(), 'go.test', 'aki.serial')
    assert.equal(placed.url, `${base}/order/1`)
    assert.deepEqual(payloads.at(-1)?.payload, {
      identifiers: [{ type: 'dns', value: 'go.test' }],
      replaces: 'aki.serial',
    })
    answers = {
      '/order': (payload) =>
        payload.replaces === undefined
          ? { status: 201, headers: { location: '/order/2' }, body: order() }
          : { status: 409, body: problem('alreadyReplaced') },
    }
    const again = await open().placeOrder(await account(), 'go.test', 'aki.serial')
    assert.equal(again.url, `${base}/order/2`, 'an address may be relative')
  })

  test('requests the configured certificate profile where the authority offers it', async () => {
    answers = { '/dir': directory({ meta: { profiles: { shortlived: 'six days' } } }) }
    payloads.length = 0
    await open({ profile: 'shortlived' }).placeOrder(await account(), 'go.test', undefined)
    assert.equal(payloads.at(-1)?.payload.profile, 'shortlived')
    const error = await expectTrouble(
      open({ profile: 'eternal' }).placeOrder(await account(), 'go.test', undefined),
      'account',
    )
    assert.match(error.message, /eternal of TERSE_ACME_PROFILE is not among .*: shortlived/)
  })

  const troubles: [string, Answer, string, number | undefined][] = [
    [
      'status 503 and a delay in seconds',
      { status: 503, headers: { 'retry-after': '120' } },
      'unavailable',
      120_000,
    ],
    [
      'status 500 and a date to retry at',
      { status: 500, headers: { 'retry-after': 'Mon, 01 Jun 2026 00:10:00 GMT' } },
      'unavailable',
      600_000,
    ],
    [
      'an internal problem',
      { status: 500, body: problem('serverInternal') },
      'unavailable',
      undefined,
    ],
    ['a body that is not JSON', { status: 200, body: '<html>' }, 'unavailable', undefined],
    ['JSON of another shape', { status: 200, body: { status: 'odd' } }, 'unavailable', undefined],
    [
      'a body that is too long',
      { status: 200, body: 'x'.repeat(300_000) },
      'unavailable',
      undefined,
    ],
    ['status 404', { status: 404 }, 'notFound', undefined],
    [
      'status 404 and a problem document',
      { status: 404, body: problem('malformed') },
      'notFound',
      undefined,
    ],
    [
      'rateLimited',
      { status: 429, headers: { 'retry-after': '9' }, body: problem('rateLimited') },
      'rateLimited',
      9_000,
    ],
    [
      'accountDoesNotExist',
      { status: 400, body: problem('accountDoesNotExist') },
      'account',
      undefined,
    ],
    [
      'userActionRequired',
      { status: 403, body: problem('userActionRequired') },
      'account',
      undefined,
    ],
    ['unauthorized', { status: 403, body: problem('unauthorized') }, 'rejected', undefined],
    ['badNonce every time', { status: 400, body: problem('badNonce') }, 'unavailable', undefined],
  ]
  for (const [what, reply, trouble, retryAfterMs] of troubles) {
    test(`reports "${trouble}" when the authority answers with ${what}`, async () => {
      answers = { '/order/1': reply }
      const error = await expectTrouble(
        open().readOrder(await account(), `${base}/order/1`),
        trouble,
      )
      assert.equal(error.retryAfterMs, retryAfterMs)
    })
  }

  test('sends nothing to an authority that is unreachable or has an untrusted certificate', async () => {
    answers = {}
    await expectTrouble(
      open({ directory: 'https://localhost:9/dir' }).caaIdentities(),
      'unavailable',
    )
    const strange = open({ trusted: [selfSigned('localhost', Date.now()).chainPem] })
    const error = await expectTrouble(strange.caaIdentities(), 'unavailable')
    assert.match(error.message, /self-signed certificate/)
    const cancelled = open()
    cancelled.cancel()
    await expectTrouble(cancelled.caaIdentities(), 'unavailable')
  })

  test("removes control characters from the authority's messages, and limits their length", async () => {
    answers = {
      '/order/1': { status: 403, body: problem('unauthorized', `\u001b[31m${'x'.repeat(2_000)}`) },
    }
    const error = await expectTrouble(
      open().readOrder(await account(), `${base}/order/1`),
      'rejected',
    )
    assert.match(error.message, /^unauthorized: \?\[31mx+$/)
    assert.equal(error.message.length, 500)
  })

  test('offers challenges, and answers only the safe ones', async () => {
    const challenge = (type: string, token: string) => ({
      type,
      token,
      url: `${base}/c`,
      status: 'pending',
    })
    const challenges = [
      challenge('dns-01', 'token'),
      challenge('http-01', '../../etc'),
      challenge('http-01', 'x'.repeat(257)),
      challenge('tls-alpn-01', 'good_-1'),
    ]
    answers = { '/authz': { body: { status: 'pending', challenges } } }
    const read = await open().readAuthorization(await account(), `${base}/authz`)
    assert.deepEqual(
      read.challenges.map(({ type, token }) => [type, token]),
      [['tls-alpn-01', 'good_-1']],
    )
  })
})

test('a certificate’s renewal identifier is the one that RFC 9773 defines', () => {
  // The key identifier of the example in section 4.1 of the RFC.
  const keyId = Buffer.from('69885b6b87464041e1b37b847ba0ae2cde01c8d4', 'hex')
  const identifier = new Primitive({ idBlock: { tagClass: 3, tagNumber: 0 }, valueHex: keyId })
  const value = sequence(identifier)
  const { chainPem } = selfSigned('go.test', NOW_MS, [
    extension({ id: '2.5.29.35', isCritical: false, value }),
  ])
  const serial = Buffer.from(new X509Certificate(chainPem).serialNumber, 'hex')
  assert.equal(renewalIdOf(chainPem), `aYhba4dGQEHhs3uEe6CuLN4ByNQ.${serial.toString('base64url')}`)
  assert.equal(renewalIdOf(selfSigned('go.test', NOW_MS).chainPem), undefined)
})

test('the certificate of a tls-alpn-01 challenge contains the answer’s digest in a critical extension', () => {
  const { chainPem } = alpnCertificate('go.test', 'token.thumbprint', NOW_MS)
  const leaf = new X509Certificate(chainPem)
  assert.equal(leaf.checkHost('go.test', { subject: 'never' }), 'go.test')
  assert.ok(leaf.verify(leaf.publicKey))
  const digest = createHash('sha256').update('token.thumbprint').digest()
  const expected = extension({
    id: '1.3.6.1.5.5.7.1.31',
    isCritical: true,
    value: new OctetString({ valueHex: digest }),
  })
  assert.ok(leaf.raw.includes(Buffer.from(expected.toBER())))
})
