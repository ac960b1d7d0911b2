import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type Service, startService } from '../support/service.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'
import { createDomain, createLink } from './create.ts'

/** How far the clocks of two processes on one machine may differ. */
const CLOCK_TOLERANCE_MS = 20

const ONE = 'https://example.com/one'
const TWO = 'https://example.com/two'

/** What a visit gets: the destination, or the status of a page. */
type Outcome = string | number

type Expected = readonly { readonly path: string; readonly host: string; readonly gets: Outcome }[]

type Scenario = {
  readonly name: string
  /** Creates the initial state; returns the ids that the change needs. `host` is unique to the scenario. */
  readonly given: (api: Api, host: string) => Promise<{ id?: string; domainId?: string }>
  readonly before: (host: string) => Expected
  readonly change: (
    api: Api,
    host: string,
    made: { id?: string; domainId?: string },
  ) => Promise<unknown>
  readonly after: (host: string) => Expected
}

/** What one path on the scenario’s host gets. */
const on = (path: string, gets: Outcome) => (host: string) => [{ host, path, gets }]

async function givenLink(api: Api, host: string, fields = {}): Promise<{ id: string }> {
  return createLink(api, { domain: host, key: 'key', url: ONE, ...fields })
}

async function givenDomain(api: Api, host: string, fields = {}): Promise<{ domainId: string }> {
  const { id } = await createDomain(api, { domain: host, ...fields })
  return { domainId: id }
}

async function givenBoth(api: Api, host: string): Promise<{ id: string; domainId: string }> {
  return { ...(await givenDomain(api, host)), ...(await givenLink(api, host)) }
}

const changeLink =
  (fields: Record<string, unknown>): Scenario['change'] =>
  async (api, _host, { id }) =>
    // To hash a password may take longer than a request waits on a busy machine.
    eventually(async () => expectStatus(await api.patch(`/links/${id}`, fields), 200))

const changeDomain =
  (fields: Record<string, unknown>): Scenario['change'] =>
  async (api, _host, { domainId }) =>
    expectStatus(await api.patch(`/domains/${domainId}`, fields), 200)

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a new link',
    given: (api, host) => givenDomain(api, host),
    before: on('/key', 404),
    change: (api, host) => givenLink(api, host),
    after: on('/key', ONE),
  },
  {
    name: 'a new destination',
    given: (api, host) => givenLink(api, host),
    before: on('/key', ONE),
    change: changeLink({ url: TWO }),
    after: on('/key', TWO),
  },
  {
    name: 'a new key',
    given: (api, host) => givenLink(api, host),
    before: (host) => [
      { host, path: '/key', gets: ONE },
      { host, path: '/other', gets: 404 },
    ],
    change: changeLink({ key: 'other' }),
    after: (host) => [
      { host, path: '/key', gets: 404 },
      { host, path: '/other', gets: ONE },
    ],
  },
  {
    name: 'the same key in other letter case',
    given: (api, host) => givenLink(api, host),
    before: on('/KEY', ONE),
    change: async (api, host, made) => {
      await changeLink({ key: 'KEY' })(api, host, made)
      await createLink(api, { domain: host, key: 'key', url: TWO })
    },
    after: (host) => [
      { host, path: '/KEY', gets: ONE },
      { host, path: '/key', gets: TWO },
      { host, path: '/Key', gets: 404 },
    ],
  },
  {
    name: 'a link moved to another domain',
    given: async (api, host) => {
      await givenDomain(api, `to.${host}`)
      return givenLink(api, host)
    },
    before: (host) => [
      { host, path: '/key', gets: ONE },
      { host: `to.${host}`, path: '/key', gets: 404 },
    ],
    change: (api, host, made) => changeLink({ domain: `to.${host}` })(api, host, made),
    after: (host) => [
      { host, path: '/key', gets: 404 },
      { host: `to.${host}`, path: '/key', gets: ONE },
    ],
  },
  {
    name: 'a deleted link',
    given: (api, host) => givenLink(api, host),
    before: on('/key', ONE),
    change: async (api, _host, { id }) => expectStatus(await api.delete(`/links/${id}`), 200),
    after: on('/key', 404),
  },
  {
    name: 'a link deleted and created again',
    given: (api, host) => givenLink(api, host),
    before: on('/key', ONE),
    change: async (api, host, { id }) => {
      expectStatus(await api.delete(`/links/${id}`), 200)
      await givenLink(api, host, { url: TWO })
    },
    after: on('/key', TWO),
  },
  {
    name: 'an expiry in the past',
    given: (api, host) => givenLink(api, host),
    before: on('/key', ONE),
    change: changeLink({ expires_at: '2020-01-01T00:00:00Z' }),
    after: on('/key', 410),
  },
  {
    name: 'an expiry removed',
    given: (api, host) => givenLink(api, host, { expires_at: '2020-01-01T00:00:00Z' }),
    before: on('/key', 410),
    change: changeLink({ expires_at: null }),
    after: on('/key', ONE),
  },
  {
    name: 'a password added',
    given: (api, host) => givenLink(api, host),
    before: on('/key', ONE),
    change: changeLink({ password: 'sesame' }),
    after: on('/key', 200),
  },
  {
    name: 'a UTM value added',
    given: (api, host) => givenLink(api, host),
    before: on('/key', ONE),
    change: changeLink({ utm_source: 'poster' }),
    after: on('/key', `${ONE}?utm_source=poster`),
  },
  {
    name: 'a rule set that the link uses',
    async given(api, host) {
      const rules = [{ then: { url: ONE } }]
      const { id } = expectStatus(await api.post('/rule-sets', { name: host, rules }), 201).body
      await createLink(api, { domain: host, key: 'key', url: 'https://e.example/', rule_set: id })
      return { id }
    },
    before: on('/key', ONE),
    async change(api, _host, { id }) {
      const rules = [{ then: { url: TWO } }]
      expectStatus(await api.patch(`/rule-sets/${id}`, { rules }), 200)
    },
    after: on('/key', TWO),
  },
  {
    name: 'a host claimed',
    given: async () => ({}),
    before: on('/key', 404),
    change: (api, host) => givenLink(api, host),
    after: on('/key', ONE),
  },
  {
    name: 'fallback URLs added to a domain',
    given: async (api, host) => {
      const made = await givenDomain(api, host)
      await createLink(api, { domain: host, key: 'old', expires_at: '2020-01-01T00:00:00Z' })
      return made
    },
    before: (host) => [
      { host, path: '/', gets: 404 },
      { host, path: '/no', gets: 404 },
      { host, path: '/old', gets: 410 },
    ],
    change: changeDomain({ not_found_url: ONE, expired_url: TWO }),
    after: (host) => [
      { host, path: '/', gets: ONE },
      { host, path: '/no', gets: ONE },
      { host, path: '/old', gets: TWO },
    ],
  },
  {
    name: 'a fallback URL removed from a domain',
    given: (api, host) => givenDomain(api, host, { not_found_url: ONE }),
    before: on('/', ONE),
    change: changeDomain({ not_found_url: null }),
    after: on('/', 404),
  },
  {
    name: 'a domain renamed with its links',
    given: (api, host) => givenBoth(api, host),
    before: (host) => [
      { host, path: '/key', gets: ONE },
      { host: `to.${host}`, path: '/key', gets: 404 },
    ],
    change: (api, host, made) => changeDomain({ domain: `to.${host}` })(api, host, made),
    after: (host) => [
      { host, path: '/key', gets: 404 },
      { host: `to.${host}`, path: '/key', gets: ONE },
    ],
  },
  {
    name: 'a domain deleted, which stops its links',
    given: (api, host) => givenBoth(api, host),
    before: on('/key', ONE),
    change: async (api, _host, { domainId }) =>
      expectStatus(await api.delete(`/domains/${domainId}`), 200),
    after: on('/key', 404),
  },
  {
    name: 'a deleted domain added again, which restores its links',
    given: async (api, host) => {
      const made = await givenBoth(api, host)
      expectStatus(await api.delete(`/domains/${made.domainId}`), 200)
      return made
    },
    before: on('/key', 404),
    change: (api, host) => givenDomain(api, host),
    after: on('/key', ONE),
  },
]

for (const engine of ENGINES) {
  describe(`changes across processes, on ${engine.title}`, () => {
    let service: Service
    let other: ServiceProcess
    let api: Api
    before(async () => {
      service = await startService(engine)
      other = await startProcess(service.place)
      api = apiClient(`http://127.0.0.1:${other.port}`, await service.token())
    })
    after(async () => {
      await other.stop()
      await service.stop()
    })

    async function expectVisits(port: number, expected: Expected): Promise<void> {
      for (const { host, path, gets } of expected) {
        const answer = await visit(port, path, { host })
        assert.equal(answer.headers.location ?? answer.status, gets, `${host}${path}`)
      }
    }

    for (const [index, scenario] of SCENARIOS.entries()) {
      test(`${scenario.name}: applies at once in the changing process, and within 1 s in another`, async () => {
        const host = `s${index}.localhost`
        const made = await scenario.given(api, host)
        // Twice, so that the second visit is answered from the cache.
        for (const _time of ['first', 'second']) {
          await expectVisits(other.port, scenario.before(host))
          await eventually(() => expectVisits(service.port, scenario.before(host)))
        }
        await scenario.change(api, host, made)
        await expectVisits(other.port, scenario.after(host))
        await eventually(() => expectVisits(service.port, scenario.after(host)))
      })
    }

    test('a change in the other direction applies at once here, and within 1 s there', async () => {
      const here = await service.api()
      const host = 'both.localhost'
      const { id } = await createLink(here, { domain: host, key: 'key', url: ONE })
      await eventually(() => expectVisits(other.port, on('/key', ONE)(host)))
      await expectVisits(service.port, on('/key', ONE)(host))
      expectStatus(await here.delete(`/links/${id}`), 200)
      await expectVisits(service.port, on('/key', 404)(host))
      await eventually(() => expectVisits(other.port, on('/key', 404)(host)))
    })

    test('many changes in a row, among visits, end with the last one in every process', async () => {
      const host = 'row.localhost'
      const { id } = await createLink(api, { domain: host, key: 'key', url: ONE })
      let last = ONE
      for (let step = 1; step <= 20; step += 1) {
        last = `https://example.com/step/${step}`
        const change = api.patch(`/links/${id}`, { url: last })
        await Promise.all([
          change,
          ...[other.port, service.port, other.port].map((port) => visit(port, '/key', { host })),
        ])
        await expectVisits(other.port, on('/key', last)(host))
      }
      await eventually(() => expectVisits(service.port, on('/key', last)(host)))
    })

    test('a link expires on time, without a change', async () => {
      // A busy machine may make the first visit too late.
      for (let lifeMs = 1_000, isVisited = false; !isVisited; lifeMs *= 2) {
        const expiresAt = Date.now() + lifeMs
        const host = `expires-${lifeMs}.localhost`
        const expires_at = new Date(expiresAt).toISOString()
        await createLink(api, { domain: host, key: 'key', url: ONE, expires_at })
        const { headers } = await visit(other.port, '/key', { host })
        isVisited = Date.now() < expiresAt - CLOCK_TOLERANCE_MS
        if (isVisited) assert.equal(headers.location, ONE)
        await eventually(() => expectVisits(other.port, on('/key', 410)(host)), 2 * lifeMs + 20_000)
        assert.ok(Date.now() >= expiresAt - CLOCK_TOLERANCE_MS, 'not before its expiry')
      }
    })
  })
}
