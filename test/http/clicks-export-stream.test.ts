import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { createGunzip, gunzipSync } from 'node:zlib'
import { EXPORT_QUEUE } from '../../src/clicks/report/clicks.ts'
import type { RawClick } from '../../src/clicks/report/day-of-clicks.ts'
import { Failure } from '../../src/platform/failure.ts'
import { eventually } from '../support/eventually.ts'
import { CLICK, type ExportServer, startExportServer } from './export-server.ts'

const BATCH: readonly RawClick[] = Array.from({ length: 1_000 }, () => CLICK)
/** Random text, which hardly compresses. */
const NOISY_BATCH: readonly RawClick[] = Array.from({ length: 1_000 }, () => ({
  ...CLICK,
  referrer: randomBytes(200).toString('base64'),
}))
const BATCHES = 1_000
/** A generous limit for what both socket buffers and the streams between them hold: some megabytes. */
const BATCHES_AHEAD_MAX = 200
/** A source that is not read for so long waits for its client. */
const STANDSTILL_MS = 100
/** The time between two batches of a scan that finds nothing. */
const SCAN_PAUSE_MS = 50
const EXPORTS_MAX = EXPORT_QUEUE.concurrencyPerOwner ?? EXPORT_QUEUE.concurrency
const WAITING_MAX = EXPORT_QUEUE.waitingPerOwnerMax

async function countLines(
  stream: AsyncIterable<Buffer>,
  onChunk: (linesSoFar: number) => void = () => {},
): Promise<number> {
  let lines = 0
  for await (const chunk of stream) {
    lines += chunk.toString('latin1').split('\n').length - 1
    onChunk(lines)
  }
  return lines
}

describe('an export stream', () => {
  let exportServer: ExportServer
  /** How many batches were read of the current source, and whether its reading has ended. */
  let source: { batches: number; isEnded: boolean }

  beforeEach(async () => {
    exportServer = await startExportServer()
    source = { batches: 0, isEnded: false }
    exportServer.batches = () => endless(BATCH)
  })
  afterEach(() => exportServer.stop())

  async function* endless(batch: readonly RawClick[], count = Number.POSITIVE_INFINITY) {
    // The source of this test: a stopped one may still be read for a moment.
    const own = source
    try {
      for (; own.batches < count; own.batches += 1) {
        await nextTurn()
        yield batch
      }
    } finally {
      own.isEnded = true
    }
  }

  async function open(
    query = 'format=ndjson',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<IncomingMessage> {
    const request = get(`${exportServer.url}?${query}`, {
      headers: { authorization: 'Bearer x', ...headers },
      agent: false,
    })
    const [response] = await once(request, 'response')
    // A connection that either side breaks off also ends in an error.
    response.on('error', () => {})
    return response
  }

  async function statusOf(query?: string): Promise<number | undefined> {
    const response = await open(query)
    response.resume()
    return response.statusCode
  }

  /** Waits until the source has not been read for a while. */
  async function standstill(): Promise<number> {
    for (let before = -1; before !== source.batches; ) {
      before = source.batches
      await sleep(STANDSTILL_MS)
    }
    return source.batches
  }

  test('reads no further ahead than its client, and buffers no more', async () => {
    exportServer.batches = () => endless(BATCH, BATCHES)
    const response = await open()
    assert.ok((await standstill()) < BATCHES_AHEAD_MAX, `${source.batches} batches`)
    assert.equal(await countLines(response), BATCHES * BATCH.length)
    assert.equal(response.complete, true)
    assert.ok(source.isEnded)
  })

  test('stops reading when its client disconnects', async () => {
    const response = await open()
    await once(response, 'data')
    response.destroy()
    await eventually(async () => assert.ok(source.isEnded))
  })

  test('breaks off when its caller may no longer have it', async () => {
    exportServer.batches = () => endless(BATCH, BATCHES)
    const response = await open()
    await once(response, 'data')
    exportServer.isRevoked = true
    const lines = await countLines(response).catch(() => 0)
    assert.ok(lines < BATCHES * BATCH.length)
    assert.equal(response.complete, false)
    await eventually(async () => assert.ok(source.isEnded))
  })

  test('stops reading when its client stalls', async () => {
    exportServer.server.timeout = 300
    const response = await open()
    await standstill()
    await eventually(async () => assert.ok(source.isEnded))
    response.destroy()
  })

  test('stays open while it scans many clicks that do not match', async () => {
    // Half of what the scan takes.
    exportServer.server.timeout = 10 * SCAN_PAUSE_MS
    exportServer.batches = async function* () {
      for (let nth = 0; nth < 20; nth += 1) {
        await sleep(SCAN_PAUSE_MS)
        yield nth === 19 ? [CLICK] : []
      }
    }
    const response = await open()
    let text = ''
    for await (const chunk of response) text += chunk
    assert.equal(text.split('\n').length, 2)
  })

  test('breaks the connection instead of ending it when reading fails midway', async () => {
    exportServer.batches = async function* () {
      yield* endless(BATCH, 3)
      throw Failure.unavailable(new Error('gone'))
    }
    for (const format of ['csv', 'ndjson']) {
      source.batches = 0
      const response = await open(`format=${format}`)
      assert.equal(response.statusCode, 200)
      response.resume()
      await new Promise((resolve) => response.once('close', resolve))
      assert.equal(response.complete, false, format)
    }
  })

  test('returns 503 when the first batch cannot be read', async () => {
    // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
    exportServer.batches = async function* () {
      throw Failure.unavailable(new Error('gone'))
    }
    assert.equal(await statusOf(), 503)
    assert.equal(await statusOf(), 503)
    assert.equal(await statusOf(), 503, 'a failed export frees its place')
  })

  test(`waits while ${EXPORTS_MAX} exports of the workspace run, and returns 429 while ${WAITING_MAX} wait`, async () => {
    const others = await Promise.all(Array.from({ length: EXPORTS_MAX }, () => open()))
    exportServer.batches = () => endless(BATCH, 0)
    const waiting = Array.from({ length: WAITING_MAX }, () => statusOf())
    await eventually(async () => assert.equal(exportServer.exports.waiting, WAITING_MAX))
    assert.equal(await statusOf(), 429)
    others[0]?.destroy()
    assert.deepEqual(await Promise.all(waiting), Array(WAITING_MAX).fill(200))
    for (const other of others) other.destroy()
  })

  test('is not read for HEAD', async () => {
    for (let nth = 0; nth <= EXPORTS_MAX; nth += 1) {
      const response = await fetch(`${exportServer.url}?format=csv`, {
        method: 'HEAD',
        headers: { authorization: 'Bearer x' },
      })
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', /^text\/csv/)
      // A few batches are read before the head is written; a running stream would read without end.
      assert.ok(source.batches <= 5 * (nth + 1), `${source.batches} batches`)
    }
    await eventually(async () => assert.ok(source.isEnded))
  })

  describe('compressed with gzip', () => {
    const GZIP = { 'accept-encoding': 'br, gzip' }
    const NOISY_BATCHES = 100

    test('has the same content, and reads no further ahead than its client', async () => {
      exportServer.batches = () => endless(NOISY_BATCH, NOISY_BATCHES)
      const response = await open('format=csv', GZIP)
      assert.equal(response.headers['content-encoding'], 'gzip')
      assert.equal(response.headers.vary, 'Accept-Encoding')
      const ahead = await standstill()
      assert.ok(ahead < NOISY_BATCHES / 2, `${ahead} batches`)
      const lines = await countLines(response.pipe(createGunzip()))
      assert.equal(lines, NOISY_BATCHES * NOISY_BATCH.length + 1)
      assert.ok(source.isEnded)
    })

    test('sends each batch before the next one is read', async () => {
      const next = Promise.withResolvers<void>()
      exportServer.batches = async function* () {
        yield BATCH
        await next.promise
      }
      const gunzip = (await open('format=ndjson', GZIP)).pipe(createGunzip())
      const lines = await countLines(gunzip, (soFar) => {
        if (soFar === BATCH.length) next.resolve()
      })
      assert.equal(lines, BATCH.length)
    })

    test('stops reading when its client disconnects', async () => {
      const response = await open('format=ndjson', GZIP)
      await once(response, 'data')
      response.destroy()
      await eventually(async () => assert.ok(source.isEnded))
    })

    test('stops reading when its client stalls', async () => {
      exportServer.server.timeout = 300
      exportServer.batches = () => endless(NOISY_BATCH)
      const response = await open('format=ndjson', GZIP)
      await eventually(async () => assert.ok(source.isEnded))
      response.destroy()
    })

    test('breaks the connection instead of ending it when reading fails midway', async () => {
      exportServer.batches = async function* () {
        yield* endless(BATCH, 3)
        throw Failure.unavailable(new Error('gone'))
      }
      const response = await open('format=csv', GZIP)
      response.resume()
      await new Promise((resolve) => response.once('close', resolve))
      assert.equal(response.complete, false)
    })

    test('is an empty gzip stream without clicks', async () => {
      exportServer.batches = async function* () {}
      const bytes = Buffer.concat(await (await open('format=ndjson', GZIP)).toArray())
      assert.equal(gunzipSync(bytes).length, 0)
    })

    test('is uncompressed for a client that accepts only brotli', async () => {
      exportServer.batches = () => endless(BATCH, 1)
      const response = await open('format=ndjson', { 'accept-encoding': 'br' })
      assert.equal(response.headers['content-encoding'], undefined)
      const text = Buffer.concat(await response.toArray()).toString()
      assert.equal(text.split('\n').length - 1, BATCH.length)
    })
  })

  test('has only the header line as CSV and nothing as NDJSON without clicks', async () => {
    exportServer.batches = async function* () {}
    for (const [format, lines] of [
      ['csv', 1],
      ['ndjson', 0],
    ] as const) {
      let text = ''
      for await (const chunk of await open(`format=${format}`)) text += chunk
      assert.equal(text.split('\n').length - 1, lines)
    }
  })
})
