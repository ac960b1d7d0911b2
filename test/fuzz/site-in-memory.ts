import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Click, NOWHERE } from '../../src/clicks/click.ts'
import { clickMaker } from '../../src/clicks/record/click-maker.ts'
import { foldKey, isServicePath } from '../../src/links/key.ts'
import { NO_ATTRIBUTES } from '../../src/links/link.ts'
import type { LinkHost, VisitedLink } from '../../src/links/store/link-directory.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { sipKeyOf } from '../../src/platform/crypto/siphash.ts'
import { Failure } from '../../src/platform/failure.ts'
import { createFront } from '../../src/platform/http/front.ts'
import { Throttles } from '../../src/platform/limits/throttle.ts'
import { Networks } from '../../src/platform/network/ip-address.ts'
import { passwordVault } from '../../src/platform/passwords/password-vault.ts'
import { LinkFinder } from '../../src/redirects/find-link.ts'
import { RedirectHandler } from '../../src/redirects/handler.ts'
import { MachineVisits } from '../../src/redirects/machine-visits.ts'
import { passwordCookies } from '../../src/redirects/password.ts'
import { variantCookies } from '../../src/redirects/variant-cookies.ts'
import { noLimits } from '../redirect/no-limits.ts'
import { directHasher } from '../support/direct-hasher.ts'
import { fakeClock } from '../support/fake-clock.ts'

const KEY = Buffer.alloc(32, 7)
const CACHE_BYTES = 1024 * 1024

const BASE: VisitedLink = {
  ...NO_ATTRIBUTES,
  seq: 0,
  id: '',
  workspace_id: '',
  key: '',
  url: 'https://example.com/',
}

const LINKS = new Map<string, readonly VisitedLink[]>(
  Object.entries<Partial<VisitedLink>[]>({
    plain: [{ key: 'plain', url: 'https://plain.example/' }],
    query: [{ key: 'query', url: 'https://query.example/a?x=1&y=2#part', utm_source: 'ä & b' }],
    mixed: [{ key: 'Mixed' }, { key: 'mixed' }],
    straße: [{ key: 'straße' }],
    'a/b': [{ key: 'a/b' }],
    app: [{ key: 'app', ios: 'myapp://ios', android: 'https://android.example/' }],
    expired: [{ key: 'expired', expires_at: '2020-01-01T00:00:00Z' }],
    'expired-on': [
      {
        key: 'expired-on',
        expires_at: '2020-01-01T00:00:00Z',
        expired_redirect_url: 'https://later.example/',
      },
    ],
    locked: [{ key: 'locked', password: 'sealed' }],
    'slow-1': [{ key: 'slow-1' }],
    // Control characters, which the API refuses and no header can hold.
    control: [{ key: 'control', url: 'https://control.example/\u0001' }],
  }).map(([folded, links]) => [
    folded,
    links.map((link, index) => ({ ...BASE, seq: folded.length * 10 + index, ...link })),
  ]),
)

const HOSTS = new Map<string, LinkHost>([
  [
    'go.localhost',
    { keyspaceId: 1, notFoundUrl: null, expiredUrl: null, hstsMaxAge: null, settings: null },
  ],
  [
    'fallback.localhost',
    {
      keyspaceId: 2,
      notFoundUrl: 'https://no.example/',
      expiredUrl: null,
      hstsMaxAge: null,
      settings: null,
    },
  ],
])
const OWN_HOST = 'own.localhost'
const OWN: LinkHost = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}

export type Site = {
  readonly port: number
  /** Visits answered on the fast path. */
  readonly fast: number
  /** Clicks since the last call. */
  takeClicks(): Click[]
  /** Makes the next visit of each link read the store. */
  forget(): void
  stop(): Promise<void>
}

/** The HTTP front and the redirects with all their rules, over links in memory. */
export async function startSite(options: { fast: boolean }): Promise<Site> {
  const clock = fakeClock()
  const finder = new LinkFinder({
    bytesMax: CACHE_BYTES,
    directory: {
      findActiveHost: async (host) => HOSTS.get(host),
      findRuleSet: async () => undefined,
      findPathKeys: async () => [],
      findDocument: async () => undefined,
      async findByFoldedKey(_, key) {
        if (key.startsWith('slow')) await new Promise(setImmediate)
        if (key === 'away') throw Failure.unavailable('the store is unavailable')
        if (key === 'broken') throw new Error('a bug')
        return (LINKS.get(key) ?? []).slice(0, 2)
      },
      findByKey: async (_, key) => LINKS.get(foldKey(key))?.find((link) => link.key === key),
      findVisitSettings: async () => ({
        labelParameter: 'via',
        tokenParameter: 'tc',
        tracksConversions: true,
      }),
    },
  })
  const clicks: Click[] = []
  let waiting: ((isStored: boolean) => void)[] = []
  function journal(): void {
    const answers = waiting
    waiting = []
    for (const answer of answers) answer(true)
  }
  const trustedProxies = new Networks()
  trustedProxies.add('127.0.0.0/8')
  const redirect = new RedirectHandler({
    finder,
    recorder: {
      record(click, done) {
        clicks.push(click)
        if (waiting.push(done) === 1) setImmediate(journal)
      },
    },
    makeClick: clickMaker({
      salts: { at: () => ({ day: 0, text: '', key: sipKeyOf(KEY) }) },
      places: (address) => ({ ...NOWHERE, country: address.startsWith('203.') ? 'DE' : '' }),
      cap: undefined,
      onSharedAddress: () => {},
    }),
    vault: passwordVault(KEY, systemRandom, directHasher()),
    cookies: passwordCookies(KEY),
    variantCookies: variantCookies(KEY),
    makeToken: () => 'token',
    limits: noLimits(),
    machines: new MachineVisits(new Networks()),
    visitorFacts: { place: () => NOWHERE, visitor: () => 1 },
    clock,
    throttles: new Throttles({ clock, peers: undefined }),
    trustedProxies,
    service: { host: OWN_HOST, ports: new Set([80, 443]) },
    oembedUrl: 'https://service.example/oembed',
    serviceHostFor: (host) => (host === OWN_HOST ? OWN : undefined),
    onError: () => undefined,
  })
  let fast = 0
  const front = createFront({
    isForApi: ({ host, path }) => host === OWN_HOST && isServicePath(path),
    api(request, response) {
      request.resume()
      response.writeHead(200, { 'Content-Length': '3' })
      response.end('API')
    },
    redirect: redirect.request,
    fastRedirect: options.fast
      ? (exchange) => {
          fast += 1
          redirect.visit(exchange)
        }
      : undefined,
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  return {
    port: (front.address() as AddressInfo).port,
    get fast() {
      return fast
    },
    takeClicks: () => clicks.splice(0),
    forget: () => finder.forgetAll(),
    async stop() {
      front.close()
      front.closeAllConnections()
      await once(front, 'close')
    },
  }
}
