import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Throttles } from '../../src/lib/throttles.ts'
import {
  type AttemptPassword,
  type PasswordAttempt,
  passwordAttempts,
} from '../../src/redirect/password-attempts.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

const SEQ = 1
const PER_ADDRESS = 10
const PER_LINK = 100
const WINDOW_SECONDS = 60

describe('attempts at a password', () => {
  let clock: FakeClock
  let attemptPassword: AttemptPassword
  let verified = 0
  beforeEach(() => {
    clock = fakeClock()
    verified = 0
    const vault = {
      async verify(sealed: string, text: string) {
        verified += 1
        return sealed === `sealed ${text}`
      },
    }
    attemptPassword = passwordAttempts({
      vault,
      throttles: new Throttles({ clock, peers: undefined }),
    })
  })

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const address = url.searchParams.get('address') ?? ''
    const seq = Number(url.searchParams.get('seq'))
    response.end(JSON.stringify(await attemptPassword(request, address, seq, 'sealed sesame')))
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

  /** An address of its own for each number. */
  const addressOf = (number: number) => `198.51.100.${number}`

  test('end right, wrong, or with what is no password form', async () => {
    const address = addressOf(1)
    assert.deepEqual(await attempt({ address, password: 'sesame' }), { kind: 'right' })
    assert.deepEqual(await attempt({ address, password: 'Sesame' }), { kind: 'wrong' })
    assert.deepEqual(await attempt({ address }), { kind: 'malformed' })
    assert.equal(verified, 2, 'what is no form costs no hash')
  })

  test('are limited for an address, the right ones too, until a minute is over', async () => {
    const mine = { address: addressOf(1), password: 'sesame' }
    for (let count = 0; count < PER_ADDRESS; count += 1) {
      assert.equal((await attempt(mine)).kind, 'right')
    }
    clock.move(20)
    const throttled = { kind: 'throttled', waitSeconds: WINDOW_SECONDS - 20 }
    assert.deepEqual(await attempt(mine), throttled)
    assert.deepEqual(await attempt({ ...mine, seq: SEQ + 1 }), throttled)
    assert.equal(verified, PER_ADDRESS, 'the password was not looked at')
    assert.equal((await attempt({ ...mine, address: addressOf(2) })).kind, 'right')
    clock.move(WINDOW_SECONDS - 20)
    assert.equal((await attempt(mine)).kind, 'right')
  })

  test('are limited for a link, but for the right ones, until a minute is over', async () => {
    for (let number = 1; number < PER_LINK; number += 1) {
      assert.equal((await attempt({ address: addressOf(number) })).kind, 'malformed')
    }
    const right = { address: addressOf(201), password: 'sesame' }
    assert.equal((await attempt(right)).kind, 'right')
    assert.equal((await attempt({ ...right, password: 'wrong' })).kind, 'wrong')
    assert.deepEqual(await attempt(right), { kind: 'throttled', waitSeconds: WINDOW_SECONDS })
    assert.equal((await attempt({ ...right, seq: SEQ + 1 })).kind, 'right')
    clock.move(WINDOW_SECONDS)
    assert.equal((await attempt(right)).kind, 'right')
  })
})
