import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createFront } from '../../src/platform/http/front.ts'
import { visit } from '../support/visit.ts'

const ASKED = 'asked.acme.test'
const TOKEN = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA'
const ANSWER = `${TOKEN}.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI`
const PREFIX = '/.well-known/acme-challenge'

describe('plain HTTP beside HTTPS', () => {
  let isAway = false
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
        if (isAway) throw new Error('away')
        return `https://${host}${path}`
      },
      async findChallenge(host, token) {
        if (isAway) throw new Error('away')
        return host === ASKED && token === TOKEN ? ANSWER : undefined
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

  test('answers what an authority asks of a host, and nothing to others', async () => {
    const found = await visit(port, `${PREFIX}/${TOKEN}`, { host: ASKED })
    assert.deepEqual([found.status, found.body], [200, ANSWER])
    assert.equal(found.headers['content-type'], 'application/octet-stream')
    for (const [host, path] of [
      ['other.acme.test', `${PREFIX}/${TOKEN}`],
      [ASKED, `${PREFIX}/${TOKEN}x`],
      [ASKED, `${PREFIX}/`],
      [ASKED, `${PREFIX}/../${TOKEN}`],
      [ASKED, `${PREFIX}/${'a'.repeat(257)}`],
    ] as const) {
      assert.equal((await visit(port, path, { host })).status, 404, `${host} ${path}`)
    }
    const head = await visit(port, `${PREFIX}/${TOKEN}`, { host: ASKED, method: 'HEAD' })
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.equal(head.headers['content-length'], String(ANSWER.length))
  })

  test('while the store is away says so to an authority, and serves visitors as they come', async (t) => {
    isAway = true
    t.after(() => {
      isAway = false
    })
    const asked = await visit(port, `${PREFIX}/${TOKEN}`, { host: ASKED })
    assert.equal(asked.status, 503)
    assert.ok(asked.headers['retry-after'])
    assert.equal((await visit(port, '/key', { host: ASKED })).status, 302)
    assert.deepEqual(answered, ['/key'])
  })
})
