import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import { compressAnswers } from '../compression/compress-answers.ts'
import { type CompressionTask, Compressor, compressBytes } from '../compression/compressor.ts'
import { Asset, hashedName } from './asset.ts'

const BODY = Buffer.from('body { color: black }\n'.repeat(1_000))
const CSS = { body: BODY, contentType: 'text/css; charset=utf-8', isImmutable: true }

describe('Asset', () => {
  /** What was compressed outside the main thread. */
  const tasks: CompressionTask[] = []
  const compressor = new Compressor(assert.ifError, {
    run: async (task: CompressionTask) => {
      tasks.push(task)
      return compressBytes(task)
    },
    close: async () => {},
  })
  const asset = new Asset(compressor, CSS)
  const changing = new Asset(compressor, { ...CSS, isImmutable: false })
  const short = new Asset(compressor, { ...CSS, body: BODY.subarray(0, 1_000) })
  const picture = new Asset(compressor, { ...CSS, contentType: 'image/png' })
  let app: FastifyInstance
  /** The bodies that were passed to the HTTP server. */
  const sent: unknown[] = []

  before(async () => {
    app = fastify()
    app.addHook('onSend', async (_request, _reply, payload) => {
      sent.push(payload)
    })
    compressAnswers(app, compressor)
    for (const [path, one] of Object.entries({ asset, changing, short, picture })) {
      app.get(`/${path}`, (request, reply) => one.send(request, reply))
    }
    await app.ready()
  })
  after(() => app.close())

  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

  test('is compressed once for each content coding, and sent from one buffer', async () => {
    tasks.length = 0
    sent.length = 0
    const headers = { 'accept-encoding': 'br' }
    await Promise.all(Array.from({ length: 20 }, () => get('/asset', headers)))
    await get('/asset', { 'accept-encoding': 'gzip' })
    assert.deepEqual(
      tasks.map(({ form }) => form),
      ['br', 'gzip'],
    )
    assert.equal(sent.length, 21)
    assert.equal(new Set(sent.slice(0, 20)).size, 1)
    await get('/asset')
    assert.equal(sent.at(-1), BODY)
  })

  test('has the same content in every content coding', async () => {
    const plain = await get('/asset')
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.deepEqual(plain.rawPayload, BODY)
    const brotli = await get('/asset', { 'accept-encoding': 'gzip, br' })
    assert.equal(brotli.headers['content-encoding'], 'br')
    assert.deepEqual(brotliDecompressSync(brotli.rawPayload), BODY)
    const gzip = await get('/asset', { 'accept-encoding': 'gzip' })
    assert.equal(gzip.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(gzip.rawPayload), BODY)
    for (const { headers, rawPayload } of [plain, brotli, gzip]) {
      assert.equal(headers['content-type'], CSS.contentType)
      assert.equal(headers['content-length'], String(rawPayload.length))
      assert.equal(headers.vary, 'Accept-Encoding')
      assert.equal(headers.etag, plain.headers.etag)
    }
  })

  test('is immutable in caches when its name contains its hash, and revalidated otherwise', async () => {
    const { headers } = await get('/asset')
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal((await get('/changing')).headers['cache-control'], 'no-cache')
    assert.equal(hashedName('page.min.css', BODY), hashedName('page.min.css', Buffer.from(BODY)))
    assert.match(hashedName('page.min.css', BODY), /^page\.min\.[0-9a-f]{12}\.css$/)
    assert.notEqual(hashedName('a.js', BODY), hashedName('a.js', BODY.subarray(1)))
  })

  test('answers HEAD with the headers of GET', async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const head = await app.inject({ method: 'HEAD', url: '/asset', headers })
    const { date: _date, ...expected } = (await get('/asset', headers)).headers
    const { date: _other, ...answered } = head.headers
    assert.deepEqual(answered, expected)
    assert.equal(head.body, '')
  })

  test('answers 304 to a client that already has it', async () => {
    const { etag = '' } = (await get('/changing')).headers
    const strong = String(etag).replace('W/', '')
    for (const known of [etag, strong, `"other", ${etag}`, '*']) {
      const answer = await get('/changing', {
        'if-none-match': String(known),
        'accept-encoding': 'br',
      })
      assert.equal(answer.statusCode, 304, String(known))
      assert.equal(answer.body, '')
      assert.equal(answer.headers.etag, etag)
      assert.equal(answer.headers.vary, 'Accept-Encoding')
      assert.equal(answer.headers['cache-control'], 'no-cache')
      assert.equal(answer.headers['content-encoding'], undefined)
    }
    for (const known of ['"other"', '', strong.slice(1, -1)]) {
      assert.equal((await get('/changing', { 'if-none-match': known })).statusCode, 200, known)
    }
  })

  test('is sent uncompressed when it is short or a picture', async () => {
    for (const path of ['/short', '/picture']) {
      const { headers } = await get(path, { 'accept-encoding': 'br, gzip' })
      assert.equal(headers['content-encoding'], undefined, path)
      assert.equal(headers.vary, undefined, path)
    }
  })

  test('is sent uncompressed while the compressor is busy, and compressed later', async () => {
    let isBusy = true
    const busy = {
      compress: async (task: CompressionTask) =>
        isBusy ? undefined : Buffer.from(compressBytes(task)),
    } as unknown as Compressor
    const late = new Asset(busy, CSS)
    assert.equal(await late.encoded('br'), undefined)
    isBusy = false
    assert.deepEqual(brotliDecompressSync((await late.encoded('br')) ?? ''), BODY)
  })
})
