import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import {
  lifeRenewalTime,
  type RenewalWindow,
  renewalTime,
  type SealedCertificate,
} from './certificate.ts'
import { AuthorityError, type RenewalInfo } from './certificate-authority.ts'
import { certificateNeed } from './certificate-need.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
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
