import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createFront } from '../../src/platform/http/front.ts'
import { visit } from '../support/visit.ts'

const CHALLENGED_HOST = 'asked.acme.test'
const TOKEN = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA'
const ANSWER = `${TOKEN}.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI`
const PREFIX = '/.well-known/acme-challenge'

describe('plain HTTP beside HTTPS', () => {
  let isStoreDown = false
  const answered: string[] = []
  const front = createFront({
    isForApi: () => false,
    api: () => assert.fail('no request is for the API'),
    redirect(_request, response, { path }) {
      answered.push(path)
      response.writeHead(302, { 'Content-Length': '0' }).end()
    },
    fastRedirect: undefined,
    plain: {
      async locationOf({ host, path }) {
        if (isStoreDown) throw new Error('away')
        return `https://${host}${path}`
      },
      async findChallenge(host, token) {
        if (isStoreDown) throw new Error('away')
        return host === CHALLENGED_HOST && token === TOKEN ? ANSWER : undefined
      },
    },
  })
  let port: number
  before(async () => {
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    port = (front.address() as AddressInfo).port
  })
  after(() => front.close())

  test('serves the challenge of a host, and 404 for any other host or token', async () => {
    const found = await visit(port, `${PREFIX}/${TOKEN}`, { host: CHALLENGED_HOST })
    assert.deepEqual([found.status, found.body], [200, ANSWER])
    assert.equal(found.headers['content-type'], 'application/octet-stream')
    for (const [host, path] of [
      ['other.acme.test', `${PREFIX}/${TOKEN}`],
      [CHALLENGED_HOST, `${PREFIX}/${TOKEN}x`],
      [CHALLENGED_HOST, `${PREFIX}/`],
      [CHALLENGED_HOST, `${PREFIX}/../${TOKEN}`],
      [CHALLENGED_HOST, `${PREFIX}/${'a'.repeat(257)}`],
    ] as const) {
      assert.equal((await visit(port, path, { host })).status, 404, `${host} ${path}`)
    }
    const head = await visit(port, `${PREFIX}/${TOKEN}`, { host: CHALLENGED_HOST, method: 'HEAD' })
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.equal(head.headers['content-length'], String(ANSWER.length))
  })

  test('returns 503 for a challenge while the store is unavailable, and still serves visitors', async (t) => {
    isStoreDown = true
    t.after(() => {
      isStoreDown = false
    })
    const asked = await visit(port, `${PREFIX}/${TOKEN}`, { host: CHALLENGED_HOST })
    assert.equal(asked.status, 503)
    assert.ok(asked.headers['retry-after'])
    assert.equal((await visit(port, '/key', { host: CHALLENGED_HOST })).status, 302)
    assert.deepEqual(answered, ['/key'])
  })
})
