import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { scaled } from '../support/properties.ts'
import { SEED } from '../support/random.ts'
import { headerOf, type RawAnswer, RawConnection } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'
import { anyVisit, plainVisit, type RawVisit } from './arbitrary-visit.ts'

const ANSWER_WITHIN_MS = 20_000
/** Two properties run on each engine. */
const CASES_EACH = scaled(2_000 / ENGINES.length / 2)

const FALLBACK = 'https://fallback.example/'

const LINKS = [
  { key: 'plain', url: 'https://plain.example/' },
  { key: 'query', url: 'https://query.example/a/b?x=1&y=%20&x=2#part' },
  { key: 'a/b', url: 'https://nested.example/?', utm_source: 'ä & b', utm_medium: '\u{1f600}' },
  { key: 'straße', url: 'https://unicode.example/ü?ö=ß#é' },
  { key: 'MiXed', url: 'https://mixed.example/' },
  {
    key: 'apps',
    url: 'https://web.example/',
    ios: 'https://ios.example/?i=1',
    android: 'https://android.example/#a',
  },
]

/** Every header that an answer to a visitor may carry; any other one was injected. */
const HEADERS = new Set([
  ...['allow', 'cache-control', 'connection', 'content-length', 'content-security-policy'],
  ...['content-type', 'date', 'keep-alive', 'location', 'referrer-policy', 'retry-after'],
  ...['x-content-type-options', 'x-robots-tag'],
])
/** The redirect from the root of the service’s own host: its dashboard. */
const SERVICE_LOCATION = '/app'

for (const engine of ENGINES) {
  describe(`redirects under random visits, on ${engine.title}`, () => {
    let service: Service
    /** The possible destinations of each link, by key. */
    const destinations = new Map<string, string[]>()
    before(async () => {
      service = await startService(engine)
      const api = await service.api()
      const domain = { domain: 'go.localhost', not_found_url: FALLBACK }
      expectStatus(await api.post('/domains', domain), 201)
      for (const link of LINKS) {
        const sent = { domain: 'go.localhost', ...link }
        const { url, ios, android } = expectStatus(await api.post('/links', sent), 201).body
        destinations.set(
          link.key,
          [url, ios, android].filter((one) => one !== null),
        )
      }
    })
    after(() => service.stop())

    async function visit({ bytes }: RawVisit): Promise<RawAnswer[]> {
      const connection = await RawConnection.open(service.port)
      connection.write(bytes)
      const answers = await connection.answersUntilClosed(ANSWER_WITHIN_MS)
      for (const answer of answers) assertSafe(answer)
      return answers
    }

    function assertSafe({ status, headers, body }: RawAnswer): void {
      assert.ok(status < 500, `${status}`)
      assert.doesNotMatch(body, /\bat .+:\d+:\d+|node_modules|<script>alert/)
      const location = headers.find(([name]) => name === 'location')?.[1]
      assert.equal(location !== undefined, status === 302, `${status} with ${location}`)
      if (location === undefined || location === SERVICE_LOCATION) return
      assert.match(location, /^[\x21-\x7e]+$/)
      for (const [name] of headers) assert.ok(HEADERS.has(name), name)
      const known = [FALLBACK, ...[...destinations.values()].flat()]
      assert.ok(
        known.some((one) => leadsTo(location, one)),
        location,
      )
    }

    test('answer every visit, and lead only to the destinations of links', async () => {
      const property = fc.asyncProperty(anyVisit(LINKS), async (plan) => {
        await visit(plan)
      })
      await fc.assert(property, { numRuns: CASES_EACH, seed: SEED })
    })

    test('lead to the link’s destination with the whole query, in printable ASCII', async () => {
      const property = fc.asyncProperty(plainVisit(LINKS), async (plan) => {
        const [answer, ...others] = await visit(plan)
        assert.equal(answer?.status, 302)
        assert.deepEqual(others, [])
        const location = headerOf(answer, 'location') ?? ''
        const possible = destinations.get(plan.key) ?? []
        const destination = possible.find((one) => leadsTo(location, one))
        assert.ok(destination !== undefined, `${location} is not where ${plan.key} leads`)
        const query = splitAddress(location).query
        const sent = plan.query.split('&').filter((part) => part !== '')
        if (sent.length === 0) {
          assert.ok(query.startsWith(splitAddress(destination).query), location)
        } else {
          assert.deepEqual(query.split('&').slice(-sent.length).map(bytesOf), sent.map(bytesOf))
        }
      })
      await fc.assert(property, { numRuns: CASES_EACH, seed: SEED })
    })
  })
}

/** Whether an address differs from a destination only in its query. */
function leadsTo(location: string, destination: string): boolean {
  const a = splitAddress(location)
  const b = splitAddress(destination)
  return a.base === b.base && a.fragment === b.fragment
}

function splitAddress(address: string): { base: string; query: string; fragment: string } {
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)\??([^#]*)(.*)$/.exec(address) ?? []
  return { base, query, fragment }
}

/** The bytes that a percent-encoded text represents, as Latin-1 characters. */
function bytesOf(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}
