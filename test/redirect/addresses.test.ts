import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { RawConnection } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'
import { createLink } from './create.ts'

const HOST = 'go.localhost'
const INTERNATIONAL_HOST = 'xn--mnchen-3ya.localhost'

/** Every link leads to a page named after its key. */
const KEYS = [
  'plain',
  'a/b',
  'Case',
  'Both',
  'both',
  'ÉTÉ',
  'straße',
  '日本/語',
  '~._-',
  'k'.repeat(190),
]

const destinationOf = (key: string) => new URL(`https://example.com/to/${key}`).href

/** Bytes of UTF-8 sent unencoded. */
const raw = (text: string) => Buffer.from(text).toString('latin1')

/** Paths, and the key of the link that each finds. */
const FOUND: readonly [string, string][] = [
  ['/plain', 'plain'],
  ['/plain?a', 'plain'],
  ['/%70lain', 'plain'],
  ['/a/b', 'a/b'],
  ['/a%2Fb', 'a/b'],
  ['/~._-', '~._-'],
  ['/plain/', 'plain'],
  ['/PLAIN/?a', 'plain'],
  ['/a/b/', 'a/b'],
  ['/a%2Fb/', 'a/b'],
  [`/${'k'.repeat(190)}`, 'k'.repeat(190)],
  ['/stra%C3%9Fe', 'straße'],
  ['/stra%c3%9fe', 'straße'],
  [encodeURI('/日本/語'), '日本/語'],
  [encodeURI('/ÉTÉ'), 'ÉTÉ'],
  [encodeURI('/ÉTÉ'.normalize('NFD')), 'ÉTÉ'],
  [encodeURI('/été'), 'ÉTÉ'],
  [encodeURI('/STRAẞE'), 'straße'],
  ['/Case', 'Case'],
  ['/case', 'Case'],
  ['/CASE', 'Case'],
  ['/PLAIN', 'plain'],
  ['/Both', 'Both'],
  ['/both', 'both'],
]

/** Paths that find nothing, because the redirect never guesses. */
const NOT_FOUND: readonly string[] = [
  '/BOTH',
  '//plain',
  '//',
  '/plain//',
  '/plain%2F',
  '/a',
  '/a/',
  '/a//b',
  '/./plain',
  '/x/../plain',
  '/plain%20',
  '/plain%00',
  '/%00',
  '/%',
  '/%zz',
  '/plain%',
  '/%C3%28',
  '/%ED%A0%80',
  '/%FF',
  '/%2Fplain',
  '/plain;x',
  '/plain&a=1',
  '/strasse',
  `/${'k'.repeat(191)}`,
  `/${'k'.repeat(8_000)}`,
]

/** Spellings of the domain’s host. */
const SAME_HOST: readonly string[] = [
  'go.localhost',
  'GO.LocalHost',
  'go.localhost.',
  'go.localhost:3000',
  'go.localhost:',
  'Go.Localhost.:8080',
]

/** Hosts of the service itself beside its name: no workspace can claim an IP address. */
const SERVICE_HOSTS: readonly string[] = [
  'localhost',
  'LOCALHOST:3000',
  'localhost.',
  '127.0.0.1',
  '127.0.0.1:3000',
  '[::1]',
  '[::1]:3000',
]

describe('addresses of links', () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE)
    const api = await service.api()
    for (const key of KEYS) {
      await createLink(api, { domain: HOST, key, url: `https://example.com/to/${key}` })
    }
    await createLink(api, { domain: 'münchen.localhost', key: 'plain' })
    await createLink(api, { key: 'own', url: 'https://example.com/own' })
  })
  after(() => service.stop())

  for (const [path, key] of FOUND) {
    test(`${path.slice(0, 40)} redirects to the link ${key.slice(0, 40)}`, async () => {
      const { status, headers } = await visit(service.port, path, { host: HOST })
      assert.equal(status, 302)
      assert.equal(headers.location?.split('?')[0], destinationOf(key))
    })
  }

  test('a final slash is ignored on kept-alive connections too', async () => {
    const connection = await RawConnection.open(service.port)
    for (const path of ['/plain/', '/a/b/?x']) {
      connection.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
      const answer = await connection.nextAnswer(10_000)
      assert.equal(answer?.status, 302)
    }
    connection.destroy()
  })

  for (const path of NOT_FOUND) {
    test(`${path.slice(0, 40)} returns 404`, async () => {
      const { status, headers, body } = await visit(service.port, path, { host: HOST })
      assert.equal(status, 404)
      assert.equal(headers.location, undefined)
      assert.match(body, /There is no link at this address/)
    })
  }

  test('unencoded bytes in the path return 400', async () => {
    for (const path of [raw('/straße'), raw('/plain?a=ü'), '/\u00ff']) {
      const { status, headers } = await visit(service.port, path, { host: HOST })
      assert.equal(status, 400, path)
      assert.equal(headers.location, undefined)
    }
  })

  for (const host of SAME_HOST) {
    test(`Host: ${host} is the domain`, async () => {
      const { headers } = await visit(service.port, '/plain', { host })
      assert.equal(headers.location, destinationOf('plain'))
    })
  }

  for (const host of SERVICE_HOSTS) {
    test(`Host: ${host} is the service’s own`, async () => {
      const link = await visit(service.port, '/own', { host })
      assert.equal(link.headers.location, 'https://example.com/own')
      const api = await visit(service.port, '/api/v1/links', { host })
      assert.equal(api.status, 401)
    })
  }

  test('a domain does not serve the service’s own paths', async () => {
    for (const path of ['/api/v1/links', '/docs', '/livez', '/robots.txt']) {
      const { status, body } = await visit(service.port, path, { host: HOST })
      assert.equal(status, 404, path)
      assert.match(body, /There is no link at this address/)
    }
  })

  test('an international host is found by its A-labels', async () => {
    const { status } = await visit(service.port, '/plain', { host: INTERNATIONAL_HOST })
    assert.equal(status, 302)
  })

  test('the host of an absolute target overrides Host', async () => {
    const target = `http://GO.localhost:${service.port}/plain`
    const { headers } = await visit(service.port, target, { host: 'nobody.example' })
    assert.equal(headers.location, destinationOf('plain'))
  })

  test('an absolute target at another host does not reach the host in Host', async () => {
    const { status } = await visit(service.port, 'http://nobody.example/plain', { host: HOST })
    assert.equal(status, 404)
  })
})
