import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ImportSource } from '../../src/imports/import-source.ts'
import type { WaitingClock } from '../../src/imports/sources/api/source-client.ts'
import { closeAgents, guardedAgents } from '../../src/platform/network/outgoing-request.ts'
import { importFixture, readRecords } from './import-sources.ts'

export type ApiRequest = {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly form: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** `cut` ends the connection in the middle of the answer, `silent` never answers. */
export type ApiAnswer =
  | { readonly status?: number; readonly json: unknown; readonly headers?: Record<string, string> }
  | { readonly status?: number; readonly text: string; readonly headers?: Record<string, string> }
  | 'cut'
  | 'silent'

/** A small server that answers as a service's API does. */
export type SourceApi = {
  readonly url: string
  readonly requests: ApiRequest[]
  /** What the next requests get, before `answer` is asked again. */
  readonly faults: ApiAnswer[]
  answer: (request: ApiRequest) => ApiAnswer
  close(): Promise<void>
}

export async function startSourceApi(
  answer: (request: ApiRequest) => ApiAnswer,
): Promise<SourceApi> {
  const api = { requests: [] as ApiRequest[], faults: [] as ApiAnswer[], answer }
  const server = createServer(async (incoming, response) => {
    const request = await parseRequest(incoming)
    api.requests.push(request)
    const given = api.faults.shift() ?? answerOf(api, request)
    if (given === 'silent') return
    if (given === 'cut') {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{"links": [', () => response.destroy())
      return
    }
    response.writeHead(given.status ?? 200, given.headers)
    response.end('text' in given ? given.text : JSON.stringify(given.json))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return Object.assign(api, {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

/** A failed assertion of a test's server ends the import, and with it the test. */
function answerOf(api: Pick<SourceApi, 'answer'>, request: ApiRequest): ApiAnswer {
  try {
    return api.answer(request)
  } catch (error) {
    return { status: 418, text: String(error) }
  }
}

async function parseRequest(incoming: IncomingMessage): Promise<ApiRequest> {
  const url = new URL(incoming.url ?? '/', 'http://api.test')
  return {
    method: incoming.method ?? '',
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    form: new URLSearchParams(await text(incoming)),
    headers: incoming.headers,
  }
}

/** A clock that does not wait: waiting moves it. */
export type FakeWaitingClock = WaitingClock & { readonly waitsMs: number[] }

export function fakeWaitingClock(startMs = Date.UTC(2026, 10, 22, 9)): FakeWaitingClock {
  let nowMs = startMs
  const waitsMs: number[] = []
  return {
    waitsMs,
    nowMs: () => nowMs,
    async wait(ms) {
      waitsMs.push(ms)
      nowMs += ms
    },
    random: () => 0.5,
  }
}

/** What an API source is given: a clock that does not wait, and connections to this machine. */
export function apiDeps() {
  const agents = guardedAgents(() => true)
  const clock = fakeWaitingClock()
  return { agents, clock, timeoutMs: 30_000, close: () => closeAgents(agents) }
}

export function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(importFixture(name), 'utf8'))
}

/** Fails unless reading from the last record of each page, and from the first of the next, gives what is after it. */
export async function assertResumesAtPages(open: () => ImportSource): Promise<void> {
  const all = await readRecords(open())
  const pageOf = (at: number) => JSON.parse(all[at]?.resume ?? '{}').page
  const ends = all.keys().filter((at) => pageOf(at) !== pageOf(at + 1))
  for (const end of ends) {
    for (const at of [end, end + 1].filter((index) => index < all.length)) {
      const rest = await readRecords(open(), all[at]?.resume)
      assert.deepEqual(rest, all.slice(at + 1), `resumed after record ${at}`)
    }
  }
}
