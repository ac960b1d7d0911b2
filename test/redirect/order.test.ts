import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Api } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitOptions, visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createDomain, createLink } from './create.ts'

const PAST = '2020-01-01T00:00:00Z'

const TITLES = {
  unknownHost: 'This domain is not in use here',
  notFound: 'There is no link at this address',
  expired: 'This link has expired',
  password: 'This link is protected',
} as const

type Scenario = {
  readonly name: string
  readonly host: string
  readonly path: string
  readonly options?: VisitOptions
} & (
  | { readonly location: string }
  | { readonly status: number; readonly title: keyof typeof TITLES; readonly text?: string }
)

/** In the order in which the redirect decides: the first match wins. */
const SCENARIOS: readonly Scenario[] = [
  {
    name: 'an unclaimed host',
    host: 'nobody.example',
    path: '/key',
    status: 404,
    title: 'unknownHost',
    text: 'nobody.example',
  },
  {
    name: 'a pending host, although it has the link and a not_found_url',
    host: 'pending.example.com',
    path: '/key',
    status: 404,
    title: 'unknownHost',
    text: 'pending.example.com',
  },
  {
    name: 'the root of a pending host',
    host: 'pending.example.com',
    path: '/',
    status: 404,
    title: 'unknownHost',
  },
  {
    name: 'a subdomain of an active host',
    host: 'www.plain.localhost',
    path: '/key',
    status: 404,
    title: 'unknownHost',
  },
  { name: 'the root', host: 'plain.localhost', path: '/', status: 404, title: 'notFound' },
  { name: 'an unknown key', host: 'plain.localhost', path: '/no', status: 404, title: 'notFound' },
  {
    name: "another host's key",
    host: 'plain.localhost',
    path: '/only-elsewhere',
    status: 404,
    title: 'notFound',
  },
  {
    name: 'the root of a domain with a not_found_url',
    host: 'full.localhost',
    path: '/',
    location: 'https://domain.example/not-found',
  },
  {
    name: 'the root with a query, which is not appended to a not_found_url',
    host: 'full.localhost',
    path: '/?a=1',
    location: 'https://domain.example/not-found',
  },
  {
    name: 'an unknown key of a domain with a not_found_url',
    host: 'full.localhost',
    path: '/no',
    location: 'https://domain.example/not-found',
  },
  {
    name: 'an expired link',
    host: 'plain.localhost',
    path: '/expired',
    status: 410,
    title: 'expired',
  },
  {
    name: 'an expired link with a password',
    host: 'plain.localhost',
    path: '/expired-secret',
    status: 410,
    title: 'expired',
  },
  {
    name: 'an expired link of a domain with an expired_url',
    host: 'full.localhost',
    path: '/expired',
    location: 'https://domain.example/expired',
  },
  {
    name: 'an expired link with an expired_redirect_url, on a domain with an expired_url',
    host: 'full.localhost',
    path: '/expired-own',
    location: 'https://link.example/expired',
  },
  {
    name: 'a link that expires in the far future',
    host: 'plain.localhost',
    path: '/later',
    location: 'https://example.com/later',
  },
  {
    name: 'a link with a password, on any device',
    host: 'plain.localhost',
    path: '/secret',
    options: { headers: { 'user-agent': AGENTS.iPhone } },
    status: 200,
    title: 'password',
  },
  {
    name: 'an iPhone',
    host: 'plain.localhost',
    path: '/app',
    options: { headers: { 'user-agent': AGENTS.iPhone } },
    location: 'https://example.com/ios',
  },
  {
    name: 'an iPad',
    host: 'plain.localhost',
    path: '/app',
    options: { headers: { 'user-agent': AGENTS.iPad } },
    location: 'https://example.com/ios',
  },
  {
    name: 'an Android phone',
    host: 'plain.localhost',
    path: '/app',
    options: { headers: { 'user-agent': AGENTS.android } },
    location: 'https://example.com/android',
  },
  {
    name: 'a computer',
    host: 'plain.localhost',
    path: '/app',
    location: 'https://example.com/web',
  },
  {
    name: 'a visitor without a user agent',
    host: 'plain.localhost',
    path: '/app',
    options: { anonymous: true },
    location: 'https://example.com/web',
  },
  {
    name: 'an iPhone at a link for Android only',
    host: 'plain.localhost',
    path: '/android',
    options: { headers: { 'user-agent': AGENTS.iPhone } },
    location: 'https://example.com/web',
  },
  {
    name: 'the same key on another host',
    host: 'full.localhost',
    path: '/app',
    location: 'https://example.com/full',
  },
  {
    name: "a link on the service's own host",
    host: 'localhost',
    path: '/own',
    location: 'https://example.com/own',
  },
  {
    name: "an unknown key on the service's own host",
    host: 'localhost',
    path: '/no',
    status: 404,
    title: 'notFound',
  },
]

async function createLinks(api: Api): Promise<void> {
  const pending = { domain: 'pending.example.com', key: 'key' }
  await createDomain(api, { domain: pending.domain, not_found_url: 'https://domain.example/x' })
  await createLink(api, pending)
  await createDomain(api, {
    domain: 'full.localhost',
    not_found_url: 'https://domain.example/not-found',
    expired_url: 'https://domain.example/expired',
  })
  const web = { url: 'https://example.com/web' }
  const android = { android: 'https://example.com/android' }
  for (const link of [
    { key: 'key' },
    { key: 'app', ...web, ...android, ios: 'https://example.com/ios' },
    { key: 'android', ...web, ...android },
    { key: 'expired', expires_at: PAST },
    { key: 'expired-secret', expires_at: PAST, password: 'sesame' },
    { key: 'later', url: 'https://example.com/later', expires_at: '9999-12-31T23:59:59.999999Z' },
    { key: 'secret', password: 'sesame', ios: 'https://example.com/ios' },
  ]) {
    await createLink(api, { domain: 'plain.localhost', ...link })
  }
  for (const link of [
    { key: 'app', url: 'https://example.com/full' },
    { key: 'only-elsewhere' },
    { key: 'expired', expires_at: PAST },
    {
      key: 'expired-own',
      expires_at: PAST,
      expired_redirect_url: 'https://link.example/expired',
    },
  ]) {
    await createLink(api, { domain: 'full.localhost', ...link })
  }
  await createLink(api, { key: 'own', url: 'https://example.com/own' })
}

for (const engine of ENGINES) {
  describe(`the outcome of a visit, on ${engine.title}`, () => {
    let service: Service
    before(async () => {
      service = await startService(engine)
      await createLinks(await service.api())
    })
    after(() => service.stop())

    // Twice each: the second visit is answered from the cache.
    for (const time of ['first', 'second']) {
      for (const scenario of SCENARIOS) {
        const outcome =
          'location' in scenario
            ? `redirects to ${scenario.location}`
            : `shows "${TITLES[scenario.title]}"`
        test(`${outcome} for ${scenario.name}, ${time} visit`, async () => {
          const { host, path, options } = scenario
          const answer = await visit(service.port, path, { host, ...options })
          if ('location' in scenario) {
            assert.equal(answer.status, 302)
            assert.equal(answer.headers.location, scenario.location)
            assert.equal(answer.body, '')
            return
          }
          assert.equal(answer.status, scenario.status)
          assert.equal(answer.headers.location, undefined)
          for (const [name, title] of Object.entries(TITLES)) {
            assert.equal(answer.body.includes(title), name === scenario.title, title)
          }
          assert.ok(answer.body.includes(scenario.text ?? ''))
        })
      }
    }

    test('the root of the service’s own host redirects to the dashboard', async () => {
      const { status, headers } = await visit(service.port, '/')
      assert.equal(status, 302)
      assert.equal(headers.location, '/app')
    })
  })
}
