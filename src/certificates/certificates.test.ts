import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { cases } from '../../test/support/properties.ts'
import {
  lifeRenewalTime,
  type RenewalWindow,
  renewalTime,
  type SealedCertificate,
} from './certificate.ts'
import {
  type AuthorityChallenge,
  AuthorityError,
  type RenewalInfo,
} from './certificate-authority.ts'
import { orderWaitMicros, pauseMicros } from './certificate-order.ts'
import { certificateNeed, isCertifiable } from './certificates.ts'
import { type ChallengePolicy, chooseChallenge } from './challenges.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('renewalTime', () => {
  const life = fc.record({
    host: fc.string(),
    ariId: fc.option(fc.string()),
    notBefore: fc.integer({ min: 0, max: 2 ** 52 }),
    days: fc.integer({ min: 1, max: 400 }),
  })
  const certificateOf = ({
    days,
    ...rest
  }: { days: number; notBefore: number } & { host: string; ariId: string | null }) => ({
    ...rest,
    notAfter: rest.notBefore + days * DAY,
    renewalWindow: null,
  })

  test('is when a little more than a third of the lifetime is left, and the same on every node', () => {
    fc.assert(
      fc.property(life, (input) => {
        const certificate = certificateOf(input)
        const left = (certificate.notAfter - lifeRenewalTime(certificate)) / (input.days * DAY)
        assert.ok(left > 0.333 && left < 0.368, `${left}`)
        assert.equal(renewalTime(certificate), renewalTime({ ...certificate }))
      }),
      cases(200),
    )
  })

  test('is within the authority’s window, even a reversed one, and before a tenth of the lifetime is left', () => {
    fc.assert(
      fc.property(life, fc.nat(400), fc.nat(400), (input, startDay, lengthDays) => {
        const certificate = certificateOf(input)
        const start = certificate.notBefore + startDay * DAY
        const window = { start, end: start + lengthDays * DAY }
        const at = renewalTime({ ...certificate, renewalWindow: window })
        const latest = certificate.notAfter - (input.days * DAY) / 10
        assert.ok(at <= latest + 1)
        assert.ok(at >= Math.min(start, latest - 1) && at <= window.end)
      }),
      cases(200),
    )
    const upsideDown = { start: 5 * DAY, end: DAY }
    const certificate = certificateOf({ host: 'a', ariId: null, notBefore: 0, days: 90 })
    assert.equal(renewalTime({ ...certificate, renewalWindow: upsideDown }), 5 * DAY)
  })

  test('differs between hosts', () => {
    const times = Array.from({ length: 100 }, (_, index) =>
      renewalTime(certificateOf({ host: `${index}.test`, ariId: null, notBefore: 0, days: 90 })),
    )
    assert.ok(Math.max(...times) - Math.min(...times) > 2 * DAY)
  })
})

test('orderWaitMicros grows with each failure up to a day, and allows fewer than five failures in an hour', () => {
  const waits = Array.from({ length: 20 }, (_, index) => orderWaitMicros(index + 1, 0))
  assert.ok(waits.every((wait, index) => index === 0 || wait >= (waits[index - 1] ?? 0)))
  assert.equal(orderWaitMicros(1, 0.5), MINUTE)
  assert.equal(orderWaitMicros(1_000, 0.5), DAY)
  const [one = 0, two = 0, three = 0, four = 0, five = 0] = waits
  assert.ok(one + two + three + four + five > HOUR, 'the sixth failure is past the first hour')
})

test('pauseMicros grows from 5 seconds to a quarter of an hour while an authority is unavailable', () => {
  assert.equal(pauseMicros(1, 0.5), 5 * SECOND)
  assert.equal(pauseMicros(1_000, 0.5), 15 * MINUTE)
  assert.equal(pauseMicros(1_000, 0), 12 * MINUTE)
})

describe('chooseChallenge', () => {
  const offer = (type: AuthorityChallenge['type']): AuthorityChallenge => {
    return { type, url: '', token: '', status: 'pending' }
  }
  const both = [offer('tls-alpn-01'), offer('http-01')]
  const choices: [
    ChallengePolicy,
    AuthorityChallenge['type'] | null,
    number,
    string | undefined,
  ][] = [
    ['auto', null, 0, 'http-01'],
    ['auto', null, 1, 'tls-alpn-01'],
    ['auto', null, 2, 'http-01'],
    ['auto', 'tls-alpn-01', 0, 'tls-alpn-01'],
    ['auto', 'tls-alpn-01', 1, 'http-01'],
    ['http-01', 'tls-alpn-01', 1, 'http-01'],
    ['tls-alpn-01', null, 0, 'tls-alpn-01'],
  ]
  for (const [policy, worked, attempts, expected] of choices) {
    test(`chooses ${expected} under policy ${policy}, last successful challenge ${worked}, attempt ${attempts}`, () => {
      assert.equal(chooseChallenge(both, policy, worked, attempts)?.type, expected)
    })
  }

  test('chooses only an offered challenge that the policy allows, or none', () => {
    assert.equal(chooseChallenge([offer('tls-alpn-01')], 'auto', null, 0)?.type, 'tls-alpn-01')
    assert.equal(chooseChallenge([offer('tls-alpn-01')], 'http-01', null, 0), undefined)
    assert.equal(chooseChallenge([], 'auto', null, 0), undefined)
  })
})

test('isCertifiable refuses names of this machine and of the local network', () => {
  for (const host of [
    'localhost',
    'go.localhost',
    'printer.local',
    'intranet',
    '192.0.2.1',
    '[::1]',
  ]) {
    assert.equal(isCertifiable(host), false, host)
  }
  for (const host of ['go.example.com', 'localhost.example.com', 'go.acme.test']) {
    assert.ok(isCertifiable(host), host)
  }
})

const DIRECTORY = 'https://authority.test/directory'
const clock = fakeClock()
const NOW = clock.nowMicros()

/** A certificate valid for 90 days, `daysOver` of which have passed. */
function certificate(daysOver: number, fields: Partial<SealedCertificate> = {}): SealedCertificate {
  return {
    host: 'go.acme.test',
    chainPem: '',
    sealedKey: '',
    directory: DIRECTORY,
    ariId: 'id',
    renewalWindow: null,
    notBefore: NOW - daysOver * DAY,
    notAfter: NOW + (90 - daysOver) * DAY,
    ...fields,
  }
}

/** The decision, how often the authority was asked for renewal advice, and the advice that was saved. */
async function need(
  current: SealedCertificate | undefined,
  advise: () => RenewalInfo | undefined = () => undefined,
) {
  let questions = 0
  const noted: RenewalWindow[] = []
  const result = await certificateNeed(
    {
      clock,
      authority: {
        directory: DIRECTORY,
        async findRenewalInfo(id) {
          assert.equal(id, current?.ariId)
          questions += 1
          return advise()
        },
      },
      async saveRenewalWindow(_host, _ariId, window) {
        noted.push(window)
      },
    },
    current,
  )
  return { result, questions, noted }
}

const advice = (start: number, end: number, retryAfterMs?: number) => () => ({
  window: { start, end },
  retryAfterMs,
})
const checkAgainAt = async (
  current: SealedCertificate,
  advise: () => RenewalInfo | undefined,
): Promise<number> => {
  const { result } = await need(current, advise)
  assert.ok(typeof result === 'object', `${result}`)
  return result.checkAgainAt
}

describe('certificateNeed', () => {
  test('orders when there is no certificate, it has expired, or it is from another authority', async () => {
    assert.equal((await need(undefined)).result, 'first')
    for (const current of [certificate(90), certificate(1, { directory: 'https://other.test/' })]) {
      const { result, questions } = await need(current)
      assert.equal(result, 'renewal')
      assert.equal(questions, 0)
    }
  })

  test('renews when a third of the lifetime is left, and not before', async () => {
    for (const ariId of ['id', null]) {
      assert.equal((await need(certificate(61, { ariId }))).result, 'renewal')
      const young = certificate(1, { ariId })
      const { result, questions } = await need(young)
      assert.deepEqual(result, { checkAgainAt: lifeRenewalTime(young) })
      assert.equal(questions, ariId === null ? 0 : 1)
    }
  })

  test('renews as soon as the authority advises it', async () => {
    const { result } = await need(certificate(1), advice(NOW - DAY, NOW - DAY))
    assert.equal(result, 'advised')
    const late = await need(certificate(61), advice(NOW - DAY, NOW - DAY))
    assert.equal(late.result, 'renewal', 'by its life it is due in any case')
  })

  test('waits until the advised time when that is before the next request for advice', async () => {
    const renewalWindow = { start: NOW + HOUR, end: NOW + 2 * HOUR }
    const current = certificate(1)
    assert.equal(
      await checkAgainAt(current, advice(renewalWindow.start, renewalWindow.end)),
      renewalTime({ ...current, renewalWindow }),
    )
  })

  test('asks for advice again after six hours, or after the authority’s Retry-After between a minute and a day', async () => {
    const asked = (retryAfterMs?: number) =>
      checkAgainAt(certificate(1), advice(NOW + 30 * DAY, NOW + 40 * DAY, retryAfterMs))
    assert.equal(await asked(), NOW + 6 * HOUR)
    assert.equal(await asked(3_600_000), NOW + HOUR)
    assert.equal(await asked(0), NOW + MINUTE)
    assert.equal(await asked(10 * 86_400_000), NOW + DAY)
  })

  test('uses the saved advice while the authority is unavailable', async () => {
    const renewalWindow = { start: NOW - DAY, end: NOW - DAY }
    const away = () => {
      throw new AuthorityError('unavailable', 'no answer', { retryAfterMs: 3_600_000 })
    }
    const { result, noted } = await need(certificate(1, { renewalWindow }), away)
    assert.equal(result, 'advised')
    assert.deepEqual(noted, [])
    assert.equal(await checkAgainAt(certificate(1), away), NOW + HOUR)
    await assert.rejects(
      need(certificate(1), () => {
        throw new Error('a bug')
      }),
      /a bug/,
    )
  })

  test('saves the advice when it has changed', async () => {
    const renewalWindow = { start: NOW + 30 * DAY, end: NOW + 40 * DAY }
    const same = advice(renewalWindow.start, renewalWindow.end)
    assert.deepEqual((await need(certificate(1), same)).noted, [renewalWindow])
    assert.deepEqual((await need(certificate(1, { renewalWindow }), same)).noted, [])
    const other = advice(renewalWindow.start, renewalWindow.end + 1)
    assert.equal((await need(certificate(1, { renewalWindow }), other)).noted.length, 1)
  })
})
