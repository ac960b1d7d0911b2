import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createHttp2Front } from '../../src/platform/http/http2-front.ts'
import { type ExportServer, startExportServer } from './export-server.ts'

/** Read month by month, in many pieces. */
const YEAR = '/api/v1/clicks?from=2025-01-01&to=2026-01-01&group_by=country&country=DE'

/** Its connection may break with an error before. */
function closing(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => request.once('close', resolve))
}

/** A request without an answer yet. */
type Asked = { leave(): void }

describe('the chart of a client that has gone', () => {
  let server: ExportServer
  const reads = new EventEmitter()
  let readings: number
  let release: () => void
  /** The connections of a test, for its end. */
  const ends: (() => unknown)[] = []

  beforeEach(async () => {
    server = await startExportServer()
    readings = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    release = resolve
    server.readDays = async () => {
      readings += 1
      reads.emit('read')
      await promise
      return []
    }
  })
  afterEach(async () => {
    release()
    for (const end of ends.splice(0)) end()
    await server.stop()
  })

  async function overHttp1(): Promise<() => Asked> {
    return () => {
      const headers = { authorization: 'Bearer x' }
      const request = get(new URL(YEAR, server.url), { agent: false, headers })
      request.on('error', () => {})
      return { leave: () => request.destroy() }
    }
  }

  /** All requests of one connection, which stays open. */
  async function overHttp2(): Promise<() => Asked> {
    const http2 = createHttp2Front(server.server)
    const acceptor = createServer((socket) => http2.take(socket)).listen(0, '127.0.0.1')
    await once(acceptor, 'listening')
    const session = connect(`http://127.0.0.1:${(acceptor.address() as AddressInfo).port}`)
    session.on('error', () => {})
    ends.push(
      () => http2.closeAll(),
      () => acceptor.close(),
    )
    return () => {
      const stream = session.request({ ':path': YEAR, authorization: 'Bearer x' })
      stream.on('error', () => {})
      return { leave: () => stream.close() }
    }
  }

  /** Sends a request; settles when the service has it. */
  async function ask(send: () => Asked): Promise<Asked & { readonly request: IncomingMessage }> {
    const arrived = once(server.server, 'request')
    const asked = send()
    const [request] = await arrived
    return { ...asked, request }
  }

  for (const [protocol, open] of [
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ] as const) {
    test(`leaves the queue, or ends at its next step, over ${protocol}`, async () => {
      const { charts } = server
      const send = await open()
      const running: Awaited<ReturnType<typeof ask>>[] = []
      for (const _ of ['one', 'two']) {
        const read = once(reads, 'read')
        running.push(await ask(send))
        await read
      }
      const waiting = await ask(send)
      while (charts.waiting === 0) await new Promise((resolve) => setImmediate(resolve))

      const left = closing(waiting.request)
      waiting.leave()
      await left
      assert.equal(charts.waiting, 0)

      const closed = running.map(({ request }) => closing(request))
      for (const { leave } of running) leave()
      await Promise.all(closed)
      release()
      while (charts.running > 0) await new Promise((resolve) => setImmediate(resolve))
      assert.equal(readings, 2)
    })
  }
})
