import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { headerOf, RawConnection } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'
import {
  BODIES,
  CONVERSATIONS,
  HIDDEN,
  HOSTS,
  type RawScenario,
  SMUGGLING,
  SYNTAX,
  TARGETS,
  upgrade,
  VISIBLE,
} from './raw-scenarios.ts'

const ANSWER_WITHIN_MS = 20_000
const CUT_OFF_WITHIN_MS = 25_000
const UNREAD_WITHIN_MS = 43_000
const DRIP_INTERVAL_MS = 500
const VISIT_INTERVAL_MS = 200
const IDLE_CONNECTIONS = 500
/** Less than the 10 s after which idle and slow clients are disconnected; far more than a busy machine takes. */
const ANSWERED_MS_MAX = 9_000

// These tests concern the HTTP front, so one storage engine is enough.
const [engine] = ENGINES
assert.ok(engine !== undefined)

for (const fast of ['on', 'off']) {
  describe(`bytes on a socket, with fast redirects ${fast}`, () => {
    let service: Service
    before(async () => {
      service = await startService(engine, { TERSE_FAST_REDIRECTS: fast })
      const api = await service.api()
      expectStatus(await api.post('/domains', { domain: 'go.localhost' }), 201)
      for (const [key, url] of Object.entries({ visible: VISIBLE, hidden: HIDDEN })) {
        expectStatus(await api.post('/links', { domain: 'go.localhost', key, url }), 201)
      }
    })
    after(() => service.stop())

    async function expectServed(): Promise<void> {
      const startedMs = performance.now()
      const { status, headers } = await visit(service.port, '/visible', { host: 'go.localhost' })
      assert.equal(status, 302)
      assert.equal(headers.location, VISIBLE)
      const tookMs = performance.now() - startedMs
      assert.ok(tookMs < ANSWERED_MS_MAX, `another visitor waited ${tookMs} ms`)
    }

    const tables = { HOSTS, TARGETS, SYNTAX, BODIES, SMUGGLING, CONVERSATIONS }
    for (const [title, scenarios] of Object.entries(tables)) {
      describe(title.toLowerCase(), () => {
        for (const { name, send, answers: expected, location } of scenarios) {
          test(`returns ${statusesText(expected)} for ${name}`, async () => {
            const connection = await RawConnection.open(service.port)
            connection.write(send)
            const answers = await connection.answersUntilClosed(ANSWER_WITHIN_MS)
            const statuses = answers.map(({ status }) => status)
            assert.equal(statuses.length, expected.length, `answered ${statuses}`)
            for (const [nth, allowed] of expected.entries()) {
              assert.ok([allowed].flat().includes(statuses[nth] ?? 0), `answered ${statuses}`)
            }
            for (const answer of answers) {
              assert.notEqual(headerOf(answer, 'location'), HIDDEN)
              assert.doesNotMatch(answer.body, /\bat .+:\d+:\d+|node_modules/)
            }
            if (location !== undefined)
              assert.equal(headerOf(answers[0] ?? never(), 'location'), location)
            await expectServed()
          })
        }
      })
    }

    test('answers requests after a refused upgrade, or closes the connection', async () => {
      const connection = await RawConnection.open(service.port)
      connection.write(upgrade('h2c') + upgrade('h2c', 'Connection: close\r\n'))
      const answers = await connection.answersUntilClosed(ANSWER_WITHIN_MS)
      for (const { status } of answers) assert.equal(status, 302)
      await expectServed()
    })

    // Skipped for one setting: they take long, and the result is mostly the same.
    const skip = fast === 'off'
    describe('slow clients', { concurrency: true, skip }, () => {
      /** Writes the rest of a request byte by byte until the server closes the connection. */
      async function drip(connection: RawConnection, rest: string): Promise<void> {
        for (const byte of rest) {
          if (connection.isClosed) return
          connection.write(byte)
          await sleep(DRIP_INTERVAL_MS)
        }
      }

      const head = 'Host: localhost\r\nContent-Length: 1000\r\n'
      const slowClients: readonly { name: string; first: string; rest: string }[] = [
        { name: 'sends nothing', first: '', rest: '' },
        { name: 'stops within the request line', first: 'GET /vis', rest: '' },
        { name: 'stops within a header', first: 'GET /visible HTTP/1.1\r\nHost: go.loc', rest: '' },
        {
          name: 'sends its head byte by byte',
          first: 'GET /visible HTTP/1.1\r\nA: ',
          rest: 'b'.repeat(100),
        },
        {
          name: 'sends the body of an API request byte by byte',
          first: `POST /api/v1/links HTTP/1.1\r\n${head}Content-Type: application/json\r\nAuthorization: TOKEN\r\n\r\n`,
          rest: ' '.repeat(100),
        },
        {
          name: 'sends the form of a link with a password byte by byte',
          first: `POST /locked HTTP/1.1\r\n${head}Content-Type: application/x-www-form-urlencoded\r\n\r\n`,
          rest: 'a'.repeat(100),
        },
        {
          name: 'sends chunks byte by byte',
          first:
            'POST /locked HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n',
          rest: '1\r\na\r\n'.repeat(20),
        },
      ]
      let authorization: string
      let finished = 0
      before(async () => {
        const secret = await service.token()
        authorization = `Bearer ${secret}`
        const link = { domain: 'localhost', key: 'locked', url: VISIBLE, password: 'secret' }
        expectStatus(await (await service.api()).post('/links', link), 201)
      })

      for (const { name, first, rest } of slowClients) {
        test(`one that ${name} is disconnected within 25 s`, async () => {
          const connection = await RawConnection.open(service.port)
          connection.write(first.replace('TOKEN', authorization))
          try {
            const dripping = drip(connection, rest)
            const answers = await connection.answersUntilClosed(CUT_OFF_WITHIN_MS)
            await dripping
            for (const { status } of answers) assert.equal(status, 408)
          } finally {
            connection.destroy()
            finished += 1
          }
        })
      }

      test('one that does not read its answers is disconnected', async () => {
        // More than the buffers in between hold: only a client that reads receives the last answer.
        const answers = 30
        const socket = connect({ host: '127.0.0.1', port: service.port })
        socket.on('error', () => {})
        await once(socket, 'connect')
        // The first answer takes as long as the page is composed.
        await visit(service.port, '/docs')
        socket.write(`GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(answers))
        await sleep(UNREAD_WITHIN_MS)
        let heads = 0
        socket.setEncoding('latin1').on('data', (text) => {
          heads += text.toString().split('HTTP/1.1 200').length - 1
        })
        await once(socket, 'close', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
        assert.ok(heads < answers, `${heads} answers`)
      })

      test('other visitors are served quickly in the meantime', async () => {
        while (finished < slowClients.length) {
          await expectServed()
          await sleep(VISIT_INTERVAL_MS)
        }
      })

      test(`other visitors are served quickly beside ${IDLE_CONNECTIONS} idle connections`, async () => {
        const opened = Array.from({ length: IDLE_CONNECTIONS }, () =>
          RawConnection.open(service.port),
        )
        const connections = await Promise.all(opened)
        try {
          for (let nth = 0; nth < 3; nth += 1) await expectServed()
          assert.ok(connections.every(({ isClosed }) => !isClosed))
        } finally {
          for (const connection of connections) connection.destroy()
        }
      })
    })
  })
}

/** The expected statuses, each once, for a test's name. */
function statusesText(answers: RawScenario['answers']): string {
  const texts = answers.map((allowed) => [allowed].flat().join(' or '))
  return [...new Set(texts)].join(', ') || 'no answer'
}

function never(): never {
  throw new Error('there is no answer')
}
