import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'

type RawAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync }
const LINKS = 60

describe('an API answer', () => {
  let service: Service
  let token: string
  before(async () => {
    service = await startService(SQLITE)
    token = await service.token()
    const api = await service.api()
    for (let nth = 0; nth < LINKS; nth += 1) {
      const link = { domain: 'localhost', key: `k${nth}`, url: `https://example.com/${nth}` }
      expectStatus(await api.post('/links', link), 201)
    }
  })
  after(() => service.stop())

  function send(path: string, coding?: string, method = 'GET', body = ''): Promise<RawAnswer> {
    const headers = {
      host: 'localhost',
      authorization: `Bearer ${token}`,
      ...(coding && { 'accept-encoding': coding }),
      ...(body && { 'content-type': 'application/json' }),
    }
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port: service.port, path, method, headers, agent: false },
        async (response) => {
          const bytes = Buffer.concat(await response.toArray())
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes })
        },
      )
      outgoing.on('error', reject).end(body)
    })
  }

  /** Answers of sizes below and above the limit for compressing in a thread. */
  const READS = [
    '/api/v1/links?per_page=100',
    '/api/v1/links?per_page=3',
    '/api/v1/clicks?interval=day',
    '/api/v1/openapi.json',
  ]
  for (const path of READS) {
    test(`to ${path} is the same in every content coding`, async () => {
      const plain = await send(path)
      assert.equal(plain.status, 200)
      assert.ok(plain.bytes.length >= 1024)
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.equal(plain.headers.vary, 'Accept-Encoding')
      for (const [coding, decode] of Object.entries(DECODERS)) {
        const { headers, bytes } = await send(path, coding)
        assert.equal(headers['content-encoding'], coding)
        assert.equal(headers['content-length'], String(bytes.length))
        assert.equal(headers['content-type'], plain.headers['content-type'])
        assert.equal(headers.vary, 'Accept-Encoding')
        assert.ok(bytes.length < plain.bytes.length / 2, `${bytes.length} bytes`)
        assert.deepEqual(decode(bytes), plain.bytes)
      }
    })
  }

  test('is uncompressed for a client that accepts no supported coding', async () => {
    for (const coding of ['identity', 'gzip;q=0', 'deflate', '*;q=0']) {
      const { headers } = await send('/api/v1/links?per_page=100', coding)
      assert.equal(headers['content-encoding'], undefined, coding)
      assert.equal(headers.vary, 'Accept-Encoding')
    }
  })

  test('is uncompressed below 1 KiB', async () => {
    const { headers, bytes } = await send('/api/v1/domains', 'br, gzip')
    assert.ok(bytes.length < 1024)
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers['content-length'], String(bytes.length))
  })

  test('is uncompressed after a write, because it may contain a secret', async () => {
    const url = `https://example.com/${'a'.repeat(2_000)}`
    const body = JSON.stringify({ domain: 'localhost', key: 'long', url })
    const { status, headers, bytes } = await send('/api/v1/links', 'br, gzip', 'POST', body)
    assert.equal(status, 201)
    assert.ok(bytes.length > 1024)
    assert.equal(headers['content-encoding'], undefined)
  })

  test('has the same headers for HEAD', async () => {
    const path = '/api/v1/links?per_page=100'
    const { headers, bytes } = await send(path, 'br', 'HEAD')
    assert.equal(bytes.length, 0)
    assert.equal(headers['content-encoding'], 'br')
    assert.equal(headers['content-length'], (await send(path, 'br')).headers['content-length'])
  })

  test('is uncompressed for a picture', async () => {
    const { data } = JSON.parse((await send('/api/v1/links?per_page=1')).bytes.toString())
    const { headers } = await send(`/api/v1/links/${data[0].id}/qr-code`, 'br, gzip')
    assert.equal(headers['content-type'], 'image/png')
    assert.equal(headers['content-encoding'], undefined)
  })

  test('is uncompressed for a redirect', async () => {
    const { status, headers } = await send('/k1', 'br, gzip')
    assert.equal(status, 302)
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers.vary, undefined)
  })
})
