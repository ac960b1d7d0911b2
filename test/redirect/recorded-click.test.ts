import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { NOWHERE } from '../../src/clicks/click.ts'
import type { RawVisit } from '../../src/clicks/record/raw-visit.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { createFront } from '../../src/platform/http/front.ts'
import { Throttles } from '../../src/platform/limits/throttle.ts'
import { Networks } from '../../src/platform/network/ip-address.ts'
import { passwordVault } from '../../src/platform/passwords/password-vault.ts'
import { RedirectHandler } from '../../src/redirects/handler.ts'
import { MachineVisits } from '../../src/redirects/machine-visits.ts'
import { passwordCookies } from '../../src/redirects/password.ts'
import { variantCookies } from '../../src/redirects/variant-cookies.ts'
import { someClick } from '../support/clicks.ts'
import { directHasher } from '../support/direct-hasher.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { visit } from '../support/visit.ts'
import { rawVisit } from './click/raw-visits.ts'
import { noLimits } from './no-limits.ts'
import { finderOf, preparedLink } from './prepared-links.ts'

const HOST = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}

describe('the raw visit of a click', () => {
  /** Visits a link once, and returns the raw visit passed to makeClick. */
  async function visitOnce(path: string, headers: Record<string, string>): Promise<RawVisit> {
    const seen: RawVisit[] = []
    const trustedProxies = new Networks()
    trustedProxies.add('127.0.0.1')
    const clock = fakeClock()
    const redirect = new RedirectHandler({
      finder: finderOf({ host: HOST, link: preparedLink() }),
      recorder: { record: (_click, done) => done(true) },
      makeClick(link_seq, raw) {
        seen.push(raw)
        return someClick({ at: 0, link_seq })
      },
      vault: passwordVault(randomBytes(32), systemRandom, directHasher()),
      cookies: passwordCookies(randomBytes(32)),
      variantCookies: variantCookies(randomBytes(32)),
      makeToken: () => 'token',
      limits: noLimits(),
      machines: new MachineVisits(new Networks()),
      visitorFacts: { place: () => NOWHERE, visitor: () => 1 },
      clock,
      throttles: new Throttles({ clock, peers: undefined }),
      trustedProxies,
      service: { host: 'go.example', ports: new Set([443]) },
      oembedUrl: 'https://service.example/oembed',
      serviceHostFor: () => undefined,
      onError: (error) => assert.fail(String(error)),
    })
    const front = createFront({
      isForApi: () => false,
      api: () => assert.fail('a visit'),
      redirect: redirect.request,
      fastRedirect: undefined,
    })
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = front.address() as AddressInfo
      const answer = await visit(port, path, { headers, anonymous: true })
      assert.equal(answer.status, 302)
    } finally {
      front.close()
    }
    assert.equal(seen.length, 1)
    return seen[0] as RawVisit
  }

  test('contains each header as sent, and the address that the proxy reports', async () => {
    const raw = await visitOnce('/key?a=1&qr=1', {
      'user-agent': 'agent',
      referer: 'https://example.com/',
      'accept-language': 'de',
      'sec-purpose': 'prefetch',
      purpose: 'navigation',
      'x-purpose': 'preview',
      'x-moz': 'prefetch',
      'x-forwarded-for': '203.0.113.9',
    })
    assert.deepEqual(raw, {
      at: fakeClock().nowMicros(),
      method: 'GET',
      address: '203.0.113.9',
      isForwarded: false,
      query: 'a=1&qr=1',
      userAgent: 'agent',
      referer: 'https://example.com/',
      acceptLanguage: 'de',
      secPurpose: 'prefetch',
      purpose: 'navigation',
      xPurpose: 'preview',
      xMoz: 'prefetch',
    })
  })

  test('is empty where the visit sends nothing', async () => {
    assert.deepEqual(
      await visitOnce('/key', {}),
      rawVisit({ at: fakeClock().nowMicros(), address: '127.0.0.1' }),
    )
  })
})
