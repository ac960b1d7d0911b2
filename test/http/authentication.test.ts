import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const DAY_MICROS = 24 * 60 * 60 * 1_000_000

/** The last six characters of a token, computed as a secret scanner does. */
function checksumOf(random: string): string {
  const digits: string[] = []
  for (let rest = crc32(random); digits.length < 6; rest = Math.floor(rest / 62)) {
    digits.unshift(BASE62.charAt(rest % 62))
  }
  return digits.join('')
}

function withOtherLastCharacter(text: string): string {
  return text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')
}

describe('authentication', () => {
  let service: Service
  let secret: string
  before(async () => {
    service = await startService(SQLITE)
    secret = await service.token()
  })
  after(() => service.stop())

  const request = (authorization?: string) =>
    apiClient(service.baseUrl, undefined).send('GET', '/links', {
      headers: authorization === undefined ? {} : { authorization },
    })

  async function createToken(expiresAt: number | null) {
    const workspace = await service.instance.workspaces.ensure(commandLine, 'acme')
    return service.instance.tokens.create(commandLine(workspace.id), {
      name: 'test',
      scopes: SCOPES,
      expiresAt,
    })
  }

  async function expectUnauthorized(authorization?: string): Promise<string> {
    const answer = expectProblem(await request(authorization), 'unauthorized')
    const wasSent = /^Bearer +\S/i.test(authorization ?? '')
    const challenge = wasSent ? 'Bearer error="invalid_token"' : 'Bearer'
    assert.equal(answer.headers.get('www-authenticate'), challenge)
    return answer.body.message
  }

  test('creates tokens as terse_, 30 base62 characters and a verifiable checksum', async () => {
    const secrets = await Promise.all(Array.from({ length: 20 }, () => service.token()))
    assert.equal(new Set(secrets).size, secrets.length)
    for (const text of secrets) {
      const match = /^terse_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/.exec(text)
      assert.ok(match, text)
      assert.equal(checksumOf(match[1] ?? ''), match[2])
    }
  })

  test('accepts a token, with the scheme in any letter case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expectStatus(await request(`${scheme} ${secret}`), 200)
    }
  })

  test('returns 401 without a token, and says what to send', async () => {
    assert.match(await expectUnauthorized(), /Authorization: Bearer/)
  })

  test('returns 401 for a malformed header or token', async () => {
    const random = secret.slice(6, 36)
    for (const header of [
      'Bearer',
      'Bearer ',
      secret,
      `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`,
      `Token ${secret}`,
      `Bearer ${secret} ${secret}`,
      `Bearer ${secret}, Bearer ${secret}`,
      `Bearer "${secret}"`,
      `Bearer ${secret.slice(0, -1)}`,
      `Bearer ${secret}0`,
      `Bearer ${secret.toLowerCase()}`,
      `Bearer terse_${random.slice(1)}-${checksumOf(random)}`,
      `Bearer ${secret.replace('terse_', 'other_')}`,
      `Bearer ${'a'.repeat(8_000)}`,
    ]) {
      await expectUnauthorized(header)
    }
  })

  test('returns 401 for a wrong checksum', async () => {
    await expectUnauthorized(`Bearer ${withOtherLastCharacter(secret)}`)
  })

  test('returns 401 for a well-formed token that was never created', async () => {
    const random = withOtherLastCharacter(secret.slice(6, 36))
    await expectUnauthorized(`Bearer terse_${random}${checksumOf(random)}`)
  })

  test('returns 401 for an expired token, and accepts one that expires later', async () => {
    const now = Date.now() * 1_000
    const expired = await createToken(now - 1)
    assert.match(await expectUnauthorized(`Bearer ${expired.secret}`), /expired/)
    const lasting = await createToken(now + DAY_MICROS)
    expectStatus(await request(`Bearer ${lasting.secret}`), 200)
  })

  test('returns 401 for a revoked token at once, and still accepts the others', async () => {
    const { token, secret: revoked } = await createToken(null)
    expectStatus(await request(`Bearer ${revoked}`), 200)
    await service.instance.tokens.revokeAnywhere(commandLine, token.id)
    await expectUnauthorized(`Bearer ${revoked}`)
    expectStatus(await request(`Bearer ${secret}`), 200)
  })

  test('answers an unknown and a revoked token with the same message', async () => {
    const { token, secret: revoked } = await createToken(null)
    await service.instance.tokens.revokeAnywhere(commandLine, token.id)
    const random = withOtherLastCharacter(secret.slice(6, 36))
    assert.equal(
      await expectUnauthorized(`Bearer ${revoked}`),
      await expectUnauthorized(`Bearer terse_${random}${checksumOf(random)}`),
    )
  })

  test('records the last use of a token', async () => {
    const { token, secret: fresh } = await createToken(null)
    const lastUse = async () => {
      const all = await service.instance.tokens.list(undefined)
      return all.find(({ id }) => id === token.id)?.last_used_at
    }
    assert.equal(await lastUse(), null)
    const startedAt = Date.now() * 1_000
    expectStatus(await request(`Bearer ${fresh}`), 200)
    await eventually(async () => assert.ok(((await lastUse()) ?? 0) >= startedAt - 5_000))
  })

  test('returns 401 before it reads the body', async () => {
    const anonymous: Api = apiClient(service.baseUrl, undefined)
    expectProblem(await anonymous.post('/links', { url: 'x'.repeat(70_000) }), 'unauthorized')
    expectProblem(await anonymous.put('/links/none', undefined), 'unauthorized')
  })
})
