import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Throttles } from '../../src/platform/limits/throttle.ts'
import { HASH_QUEUE } from '../../src/platform/passwords/password-hasher.ts'
import { FairQueue, QueueRefusal } from '../../src/platform/work/fair-queue.ts'
import {
  type AttemptPassword,
  type PasswordAttempt,
  passwordAttempts,
} from '../../src/redirects/password.ts'
import { eventually } from '../support/eventually.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

const SEQ = 1
/** Allowed failures in a minute: of one address at a link, and of all addresses at it. */
const PER_ADDRESS = 10
const PER_LINK = 100
const WINDOW_SECONDS = 60
const HOUR_SECONDS = 60 * 60

describe('passwordAttempts', () => {
  let clock: FakeClock
  let attemptPassword: AttemptPassword
  /** How many passwords were verified. */
  let verified = 0
  let owners: Set<string>
  /** Thrown by the next verification. */
  let failure: Error | undefined
  beforeEach(() => {
    clock = fakeClock()
    verified = 0
    owners = new Set()
    failure = undefined
    const queue = new FairQueue({ ...HASH_QUEUE, waitingPerOwnerMax: 2 * PER_LINK })
    attemptPassword = passwordAttempts({
      throttles: new Throttles({ clock, peers: undefined }),
      vault: {
        verify(sealed, text, { owner, onTurn }) {
          owners.add(owner)
          return queue.run(owner, async () => {
            if (failure !== undefined) throw failure
            onTurn?.()
            await nextTurn()
            verified += 1
            return sealed === `sealed ${text}`
          })
        },
      },
    })
  })

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const address = url.searchParams.get('address') ?? ''
    const link = {
      seq: Number(url.searchParams.get('seq')),
      password: { sealed: 'sealed sesame', linkId: 'link', workspaceId: 'acme' },
    }
    try {
      response.end(JSON.stringify(await attemptPassword(request, address, link)))
    } catch (error) {
      response.end(JSON.stringify({ kind: String(error) }))
    }
  })
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  after(() => server.close())

  async function attempt(options: {
    address: string
    password?: string | undefined
    seq?: number
  }): Promise<PasswordAttempt> {
    const { address, password, seq = SEQ } = options
    const { port } = server.address() as AddressInfo
    const answer = await fetch(
      `http://127.0.0.1:${port}/?${new URLSearchParams({ address, seq: String(seq) })}`,
      { method: 'POST', body: new URLSearchParams(password === undefined ? {} : { password }) },
    )
    return JSON.parse(await answer.text())
  }

  /** How many of these sequential attempts ended in each way. */
  async function attemptAll(
    each: readonly { address: string; password?: string; seq?: number }[],
  ): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const one of each) {
      const { kind } = await attempt(one)
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    return counts
  }

  /** A different address for each number. */
  const addressOf = (number: number) => `198.51.${number >> 8}.${number & 0xff}`
  const times = <T>(count: number, one: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => one(index))
  const wrong = (number: number) => ({ address: addressOf(number), password: 'wrong' })
  const right = (number: number) => ({ address: addressOf(number), password: 'sesame' })

  test('return right, wrong, or malformed for a body that is no password form', async () => {
    const address = addressOf(1)
    assert.deepEqual(await attempt({ address, password: 'sesame' }), { kind: 'right' })
    assert.deepEqual(await attempt({ address, password: 'Sesame' }), { kind: 'wrong' })
    assert.deepEqual(await attempt({ address }), { kind: 'malformed' })
    assert.equal(verified, 2, 'a malformed form costs no hash')
    assert.deepEqual([...owners], ['visitors of acme'])
  })

  test('do not limit right passwords, sequential or concurrent', async () => {
    const mine = right(1)
    assert.deepEqual(await attemptAll(times(3 * PER_ADDRESS, () => mine)), {
      right: 3 * PER_ADDRESS,
    })
    const together = await Promise.all(times(3 * PER_ADDRESS, () => attempt(mine)))
    for (const { kind } of together) assert.equal(kind, 'right')
    const everyAddress = await attemptAll(times(PER_LINK + 10, right))
    assert.deepEqual(everyAddress, { right: PER_LINK + 10 })
  })

  test('limit an address that fails at a link, until a minute has passed', async () => {
    assert.deepEqual(await attemptAll(times(PER_ADDRESS, () => wrong(1))), { wrong: PER_ADDRESS })
    clock.move(20)
    const throttled = { kind: 'throttled', waitSeconds: WINDOW_SECONDS - 20 }
    assert.deepEqual(await attempt(wrong(1)), throttled)
    assert.deepEqual(await attempt(right(1)), throttled)
    assert.equal(verified, PER_ADDRESS, 'the password was not verified')
    assert.equal((await attempt(right(2))).kind, 'right', 'another address')
    assert.equal((await attempt({ ...wrong(1), seq: 2 })).kind, 'wrong', 'another link')
    clock.move(WINDOW_SECONDS - 20)
    assert.equal((await attempt(right(1))).kind, 'right')
  })

  test('do not count malformed forms', async () => {
    const malformed = times(2 * PER_LINK, (index) => ({ address: addressOf(index % 10) }))
    assert.deepEqual(await attemptAll(malformed), { malformed: 2 * PER_LINK })
    assert.equal((await attempt(right(1))).kind, 'right')
    assert.equal((await attempt(right(99))).kind, 'right')
  })

  test('count a /64 network as one address', async () => {
    const from = (host: string) => ({ address: host, password: 'wrong' })
    await attemptAll(times(PER_ADDRESS, (index) => from(`2001:db8:1:2::${index + 1}`)))
    assert.equal((await attempt(from('2001:db8:1:2:ffff::1'))).kind, 'throttled')
    assert.equal((await attempt(from('2001:db8:1:3::1'))).kind, 'wrong')
  })

  test('limit concurrent attempts before the first failures are counted', async () => {
    const together = await Promise.all(times(5 * PER_ADDRESS, () => attempt(wrong(1))))
    assert.equal(together.filter(({ kind }) => kind === 'wrong').length, PER_ADDRESS)
    assert.equal(verified, PER_ADDRESS)
    verified = 0
    await Promise.all(times(2 * PER_LINK, (index) => attempt(wrong(100 + index))))
    assert.ok(verified <= PER_LINK, `${verified} of all addresses`)
  })

  test('reserve a part of a link’s limit for addresses that have not failed there', async () => {
    const guessers = times(10, (number) => times(PER_ADDRESS, () => wrong(number))).flat()
    const { wrong: failures = 0 } = await attemptAll(guessers)
    // The first failure of each address, and the half of the link’s limit that is left to repeated failures.
    assert.equal(failures, 10 + PER_LINK / 2)
    assert.deepEqual(await attempt(right(9)), { kind: 'throttled', waitSeconds: WINDOW_SECONDS })
    assert.equal((await attempt(right(50))).kind, 'right')
    assert.equal((await attempt(wrong(50))).kind, 'wrong')
    assert.equal((await attempt(right(50))).kind, 'throttled')
    assert.equal((await attempt({ ...right(9), seq: 2 })).kind, 'right')
    // The minute is over, but failures are remembered for an hour.
    clock.move(WINDOW_SECONDS)
    const again = times(10, (number) => times(PER_ADDRESS, () => wrong(number))).flat()
    assert.deepEqual(await attemptAll(again), { wrong: PER_LINK / 2, throttled: PER_LINK / 2 })
    assert.equal((await attempt(right(51))).kind, 'right')
    clock.move(HOUR_SECONDS)
    assert.equal((await attempt(right(9))).kind, 'right')
  })

  test('limit a link, from whatever addresses the failures come', async () => {
    const counts = await attemptAll(times(2 * PER_LINK, wrong))
    assert.deepEqual(counts, { wrong: PER_LINK, throttled: PER_LINK })
    assert.equal((await attempt(right(1_000))).kind, 'throttled')
    clock.move(WINDOW_SECONDS)
    assert.equal((await attempt(right(1_000))).kind, 'right')
  })

  test('do not count passwords that were not verified', async () => {
    failure = new QueueRefusal('hashes', 'full', 2)
    const busy = { kind: 'busy', waitSeconds: 2 }
    for (const one of times(2 * PER_ADDRESS, () => wrong(1))) {
      assert.deepEqual(await attempt(one), busy)
    }
    failure = new Error('a bug')
    assert.deepEqual(await attempt(wrong(1)), { kind: 'Error: a bug' })
    failure = undefined
    assert.deepEqual(await attemptAll(times(PER_ADDRESS, () => wrong(1))), { wrong: PER_ADDRESS })
  })

  test('share their counts among all processes', async () => {
    const listeners: ((counts: readonly (readonly [string, string, number])[]) => void)[] = []
    const [one, other] = times(2, (index) => {
      const throttles = new Throttles({
        clock,
        peers: {
          onReceived: (listener) => listeners.push(listener),
          send: (counts) => listeners[1 - index]?.(counts),
        },
      })
      const vault = {
        async verify(_sealed: string, _text: string, { onTurn }: { onTurn?: () => void }) {
          onTurn?.()
          return false
        },
      }
      return passwordAttempts({ vault, throttles })
    })
    assert.ok(one !== undefined && other !== undefined)
    attemptPassword = one
    await attemptAll(times(PER_ADDRESS, () => wrong(1)))
    attemptPassword = other
    await eventually(async () => assert.equal((await attempt(wrong(1))).kind, 'throttled'))
  })
})
