import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { SEED, scaled } from '../support/properties.ts'
import { anyConversation, type Conversation } from './arbitrary-conversation.ts'
import { type Site, startSite } from './site-in-memory.ts'

const CASES = scaled(5_000)
const CLOSED_WITHIN_MS = 10_000
/** Turns of the event loop, which client and servers share, after which an answer has come back. */
const ANSWER_TURNS = 8
const PACKET_TURNS = 2
/** Of as many visits for each conversation the fast way the comparison is worth something. */
const FAST_SHARE_MIN = 0.5
/** A last request that never is a plain one, so that Node's server says what it thinks of the rest. */
const LAST_REQUEST = 'HEAD /plain HTTP/1.1\r\nHost: go.localhost\r\nConnection: close\r\n\r\n'

/** What long runs have found: requests that are wrong while an earlier one waits for its answer. */
const FOUND = ['HTTP/1.0', 'HTTP/2.0'].map((version): [Conversation, boolean] => {
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

/** What came back until the connection was closed. */
type Outcome = { readonly received: string; readonly wasReset: boolean }

describe('visits the fast way', () => {
  let sites: readonly [fast: Site, general: Site]
  before(async () => {
    sites = [await startSite({ fast: true }), await startSite({ fast: false })]
  })
  after(() => Promise.all(sites.map((site) => site.stop())))

  test('are answered, ended and counted as those through Node’s server', async (t) => {
    t.diagnostic(`FUZZ_SEED=${SEED}`)
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
    await fc.assert(property, { numRuns: CASES, seed: SEED, examples: FOUND })
    const share = sites[0].fast / cases
    t.diagnostic(`${cases} conversations, ${sites[0].fast} visits the fast way`)
    assert.ok(share > FAST_SHARE_MIN, `${share} visits the fast way for each conversation`)
    assert.equal(sites[1].fast, 0)
  })
})

/** Everything that one conversation makes of a site. */
async function converse(site: Site, conversation: Conversation) {
  let outcome = await play(site.port, conversation)
  let clicks = site.takeClicks()
  // A reset may overtake the bytes before it.
  for (let tries = 1; outcome.wasReset && tries < 4; tries += 1) {
    outcome = await play(site.port, conversation)
    clicks = site.takeClicks()
  }
  return { received: outcome.received.replaceAll(/^Date: .*$/gm, 'Date'), clicks }
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
    const late = setTimeout(() => reject(new Error('is not closed')), CLOSED_WITHIN_MS)
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
