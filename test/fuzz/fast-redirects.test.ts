import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { scaled } from '../support/properties.ts'
import { SEED } from '../support/random.ts'
import { anyConversation, type Conversation } from './arbitrary-conversation.ts'
import { type Site, startSite } from './site-in-memory.ts'

const CASES = scaled(5_000)
const CLOSED_WITHIN_MS = 10_000
/** Iterations of the event loop, which client and servers share, until an answer has arrived. */
const ANSWER_TURNS = 8
const PACKET_TURNS = 2
/** The comparison is meaningful if at least half of the conversations reach the fast path. */
const FAST_SHARE_MIN = 0.5
/** A final request that is never simple, so that Node’s parser reports an error in the bytes before. */
const LAST_REQUEST = 'HEAD /plain HTTP/1.1\r\nHost: go.localhost\r\nConnection: close\r\n\r\n'

/** Cases found by long runs: an invalid request while an earlier one is still unanswered. */
const KNOWN_CASES = ['HTTP/1.0', 'HTTP/2.0'].map((version): [Conversation, boolean] => {
  const request = (path: string, rest = '') =>
    `GET ${path} HTTP/1.1\r\nHost: go.localhost\r\n${rest}\r\n`
  const wrong = request('/plain', 'Transfer-Encoding: identity\r\n').replace('HTTP/1.1', version)
  const packets = [
    { bytes: request('/slow-1'), waits: false },
    { bytes: wrong, waits: true },
    { bytes: request('/plain'), waits: true },
  ]
  return [{ packets, end: 'by-request' }, true]
})

/** In a header and in the body of an error; each is as long as any other. */
const REQUEST_ID = /(X-Request-Id: |"request_id":")[0-9a-f-]{36}/g

/** What was received until the connection closed. */
type Outcome = { readonly received: string; readonly wasReset: boolean }

describe('the fast path', () => {
  let sites: readonly [fast: Site, general: Site]
  before(async () => {
    sites = [await startSite({ fast: true }), await startSite({ fast: false })]
  })
  after(() => Promise.all(sites.map((site) => site.stop())))

  test('answers, closes and counts like Node’s HTTP server, for random conversations', async (t) => {
    let cases = 0
    const property = fc.asyncProperty(
      anyConversation,
      fc.boolean(),
      async (conversation, forget) => {
        cases += 1
        if (forget) for (const site of sites) site.forget()
        const [fast, general] = await Promise.all(sites.map((site) => converse(site, conversation)))
        assert.deepEqual(fast, general)
      },
    )
    await fc.assert(property, { numRuns: CASES, seed: SEED, examples: KNOWN_CASES })
    const share = sites[0].fast / cases
    t.diagnostic(`${cases} conversations, ${sites[0].fast} visits on the fast path`)
    assert.ok(share > FAST_SHARE_MIN, `${share} visits on the fast path for each conversation`)
    assert.equal(sites[1].fast, 0)
  })
})

/** Everything observable of one conversation with a site. */
async function converse(site: Site, conversation: Conversation) {
  let outcome = await play(site.port, conversation)
  let clicks = site.takeClicks()
  // A reset may overtake the bytes sent before it, so a conversation that was reset is repeated.
  for (let tries = 1; outcome.wasReset && tries < 4; tries += 1) {
    outcome = await play(site.port, conversation)
    clicks = site.takeClicks()
  }
  const received = outcome.received
    .replaceAll(/^Date: .*$/gm, 'Date')
    .replaceAll(REQUEST_ID, '$1random')
  return { received, clicks }
}

async function play(port: number, { packets, end }: Conversation): Promise<Outcome> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let received = ''
  let wasReset = false
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += text
  })
  socket.on('error', () => {
    wasReset = true
  })
  const closed = new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error('the connection was not closed')),
      CLOSED_WITHIN_MS,
    )
    socket.on('close', () => {
      clearTimeout(late)
      resolve()
    })
  })
  await once(socket, 'connect')
  for (const { bytes, waits } of packets) {
    if (socket.writable) socket.write(bytes, 'latin1')
    await turns(waits ? ANSWER_TURNS : PACKET_TURNS)
  }
  if (end === 'by-request' && socket.writable) {
    socket.write(LAST_REQUEST, 'latin1')
    await turns(ANSWER_TURNS)
  }
  socket.end()
  await closed
  return { received, wasReset }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}
