import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { type Click, NOWHERE } from '../../src/clicks/click.ts'
import type { ClickLimits } from '../../src/clicks/limits/click-limits.ts'
import { clickMaker } from '../../src/clicks/record/click-maker.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { Failure } from '../../src/platform/failure.ts'
import { Throttles } from '../../src/platform/limits/throttle.ts'
import { Networks } from '../../src/platform/network/ip-address.ts'
import { passwordVault } from '../../src/platform/passwords/password-vault.ts'
import type { AnswerHeaders } from '../../src/redirects/exchange.ts'
import { RedirectHandler } from '../../src/redirects/handler.ts'
import { MachineVisits } from '../../src/redirects/machine-visits.ts'
import { passwordCookies } from '../../src/redirects/password.ts'
import { variantCookies } from '../../src/redirects/variant-cookies.ts'
import { directHasher } from '../support/direct-hasher.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { BROWSER } from '../support/visit.ts'
import { finderOf, preparedLink } from './prepared-links.ts'

const KEY = randomBytes(32)
const HOST = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}
const HEADERS = {
  ...{ cookie: undefined, 'user-agent': BROWSER, referer: undefined },
  ...{ 'accept-language': undefined, 'sec-purpose': undefined, purpose: undefined },
  ...{ 'x-purpose': undefined, 'x-moz': undefined },
  ...{ 'x-forwarded-for': undefined, 'x-forwarded-proto': undefined },
}

type Answer = { readonly status: number; readonly headers: AnswerHeaders }

/** Visits a link with a limit once. Returns the answer, the recorded clicks, and how many were given back. */
async function visitLimited(take: ClickLimits['take'], isStored = true) {
  const clicks: Click[] = []
  let givenBack = 0
  const clock = fakeClock()
  const salts = { at: () => ({ day: 0, text: '', key: [0, 0, 0, 0] as never }) }
  const redirect = new RedirectHandler({
    finder: finderOf({ host: HOST, link: preparedLink({ maxClicks: 5 }) }),
    recorder: {
      record(click, done) {
        clicks.push(click)
        done(isStored)
      },
    },
    limits: {
      take,
      isUsedUp: () => false,
      giveBack() {
        givenBack += 1
      },
    },
    machines: new MachineVisits(new Networks()),
    makeClick: clickMaker({
      ...{ salts, places: () => NOWHERE, cap: undefined },
      onSharedAddress: () => {},
    }),
    vault: passwordVault(KEY, systemRandom, directHasher()),
    cookies: passwordCookies(KEY),
    variantCookies: variantCookies(KEY),
    makeToken: () => 'token',
    visitorFacts: { place: () => NOWHERE, visitor: () => 1 },
    clock,
    throttles: new Throttles({ clock, peers: undefined }),
    trustedProxies: new Networks(),
    service: { host: 'service.example', ports: new Set([443]) },
    oembedUrl: 'https://service.example/oembed',
    serviceHostFor: () => undefined,
    onError: (error) => assert.fail(String(error)),
  })
  const answer = await new Promise<Answer>((resolve) =>
    redirect.visit({
      method: 'GET',
      target: { host: 'go.example', path: '/key', query: '' },
      headers: HEADERS,
      ...{ remoteAddress: '203.0.113.5', startedMs: 0, isEncrypted: true, isAnswered: false },
      answer: (status, fixed, own) => resolve({ status, headers: { ...fixed, ...own } }),
      abandon: () => assert.fail('abandoned'),
    }),
  )
  return { ...answer, clicks, givenBack }
}

describe('a visit of a link with a limit', () => {
  test('is recorded as one that took a click, before it is answered', async () => {
    for (const take of [() => 'taken' as const, async () => 'taken' as const]) {
      const { status, clicks, givenBack } = await visitLimited(take)
      assert.deepEqual([status, givenBack], [302, 0])
      assert.deepEqual(
        clicks.map(({ flags, isLimited }) => [flags, isLimited]),
        [[0, true]],
      )
    }
  })

  test('whose click cannot be journalled gives it back, and does not reach the destination', async () => {
    const { status, headers, givenBack } = await visitLimited(() => 'taken', false)
    assert.deepEqual([status, headers.Location, givenBack], [503, undefined, 1])
    assert.equal(headers['Retry-After'], '2')
  })

  test('is asked to wait while other processes hold the last clicks, or the database is down', async () => {
    const takes: ClickLimits['take'][] = [
      async () => 'busy' as const,
      () => Promise.reject(Failure.unavailable(new Error('down'))),
    ]
    for (const take of takes) {
      const { status, headers, clicks } = await visitLimited(take)
      assert.deepEqual([status, headers['Retry-After'], clicks.length], [503, '2', 0])
    }
  })

  test('is answered as any other once the limit was removed', async () => {
    const { status, clicks } = await visitLimited(async () => 'unlimited' as const)
    assert.equal(status, 302)
    assert.deepEqual(
      clicks.map(({ isLimited }) => isLimited),
      [undefined],
    )
  })

  test('is answered 410 without being recorded when no click is left', async () => {
    const { status, clicks } = await visitLimited(() => 'used-up')
    assert.deepEqual([status, clicks.length], [410, 0])
  })
})
