import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Answer, type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { jsonRequest, type Operation, readOperations, UNKNOWN_ID } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const BODY_BYTES_MAX = 64 * 1024
const JSON_TYPE = 'application/json'

const MALFORMED = [
  '{',
  '}',
  ' ',
  'nope',
  '{"url":}',
  '{"url":"https://example.com/",}',
  "{'url':'https://example.com/'}",
  '{"url":"https://example.com/"}{}',
  '{"url":"\u0001"}',
  '{"external_id":NaN}',
  'url=https://example.com/',
]

const NOT_OBJECTS = ['', 'null', 'true', '7', '"text"', '[]', '[{"url":"https://example.com/"}]']

const OTHER_TYPES = [
  'text/plain',
  'text/html',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonx',
  'application/problem+json',
  'application/json, text/plain',
  'json',
]

/** Property names that objects inherit, or that could pollute their prototype. */
const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

describe('errors of the API', () => {
  let service: Service
  let api: Api
  let writing: readonly Operation[]
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api()
    const operations = await readOperations(service.baseUrl)
    writing = operations.filter(({ validBody }) => validBody !== undefined)
    assert.ok(writing.length >= 9)
  })
  after(() => service.stop())

  const send = (operation: Operation, init: RequestInit): Promise<Answer> =>
    api.send(operation.method, operation.pathFor(UNKNOWN_ID), init)
  const linkTotal = async () => (await api.get('/links')).body.meta.total

  test('returns 400 for malformed JSON, in every operation with a body', async () => {
    for (const operation of writing) {
      for (const body of MALFORMED) {
        expectProblem(await send(operation, jsonRequest(body)), 'malformed_json')
      }
    }
  })

  test('returns 422 on the body for JSON that is not an object', async () => {
    for (const operation of writing) {
      // The QR code’s body may be missing or null, because all its fields are optional.
      const optional = operation.template.endsWith('/qr-code')
      // Conversions may be several at once.
      const takesArrays = operation.template === '/conversions'
      for (const body of NOT_OBJECTS.filter((text) => !(takesArrays && text.startsWith('[')))) {
        const answer = await send(operation, jsonRequest(body))
        if (optional && (body === '' || body === 'null')) expectProblem(answer, 'not_found')
        else expectProblem(answer, 'validation_failed', ['body'])
      }
    }
  })

  test('returns 415 for any other media type', async () => {
    for (const operation of writing) {
      for (const type of OTHER_TYPES) {
        const answer = await send(operation, { headers: { 'content-type': type }, body: '{}' })
        expectProblem(answer, 'unsupported_media_type')
      }
    }
    const untyped = await api.send('POST', '/links', { body: new Blob(['{}']) })
    expectProblem(untyped, 'unsupported_media_type')
  })

  test('accepts the JSON media type with any parameters and letter case', async () => {
    for (const type of [
      `${JSON_TYPE}; charset=utf-8`,
      `${JSON_TYPE};charset="UTF-8"`,
      'Application/JSON',
    ]) {
      const body = JSON.stringify({ domain: 'localhost', url: 'https://example.com/' })
      const answer = await api.send('POST', '/links', { headers: { 'content-type': type }, body })
      expectStatus(answer, 201)
    }
  })

  test('accepts a body of 64 KiB, and returns 413 for one byte more, also without Content-Length', async () => {
    const frame = JSON.stringify({ domain: 'localhost', url: 'https://example.com/', id: '' })
    const bodyOf = (bytes: number) => frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`)
    const full = bodyOf(BODY_BYTES_MAX)
    assert.equal(Buffer.byteLength(full), BODY_BYTES_MAX)
    expectStatus(await api.send('POST', '/links', jsonRequest(full)), 201)

    const total = await linkTotal()
    for (const operation of writing) {
      const answer = await send(operation, jsonRequest(bodyOf(operation.bodyBytesMax + 1)))
      expectProblem(answer, 'body_too_large')
    }
    const chunked = await visit(service.port, '/api/v1/links', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await service.token()}`,
        'content-type': JSON_TYPE,
        'transfer-encoding': 'chunked',
      },
      body: bodyOf(BODY_BYTES_MAX + 1),
    })
    assert.equal(chunked.status, 413)
    const refused = JSON.parse(chunked.body)
    assert.equal(refused.code, 'body_too_large')
    assert.equal(refused.request_id, chunked.headers['x-request-id'])
    assert.equal(await linkTotal(), total)
  })

  test('counts the 64 KiB in bytes, not in characters', async () => {
    const sent = { domain: 'localhost', url: 'https://example.com/', id: 'ü'.repeat(40_000) }
    expectProblem(await api.post('/links', sent), 'body_too_large')
  })

  test('reports every wrong field of a link at once', async () => {
    const wrong = {
      domain: 'co.uk',
      url: 'nope',
      key: 'a b',
      ios: 'javascript:alert(1)',
      android: 'data:,x',
      utm_source: 7,
      external_id: 1.5,
      password: '',
      expires_at: 'tomorrow',
      expired_redirect_url: '/relative',
      domian: 'localhost',
    }
    const answer = await api.post('/links', { ...wrong, tags: ['fine', 'x'.repeat(51)] })
    expectProblem(answer, 'validation_failed', [...Object.keys(wrong), 'tags.1'])
  })

  test('has a code and the parameters of each fault beside its text', async () => {
    const { body } = await api.post('/links', {
      url: 'ftp://example.com/',
      key: 'a b',
      external_id: 1.5,
      utm_source: 'x'.repeat(501),
      domian: 'localhost',
    })
    assert.deepEqual(body.faults, {
      domain: [{ code: 'required', message: 'is required' }],
      domian: [{ code: 'unknown_field', message: 'is not a known field' }],
      external_id: [
        {
          code: 'out_of_range',
          min: -9007199254740991,
          max: 9007199254740991,
          message: 'must be a whole number from -9007199254740991 to 9007199254740991',
        },
      ],
      key: [{ code: 'invalid_key', reason: 'characters', message: body.errors.key[0] }],
      url: [
        {
          code: 'wrong_scheme',
          allowed: ['http:', 'https:', 'mailto:', 'tel:', 'sms:'],
          message: 'must begin with http:, https:, mailto:, tel:, sms:',
        },
      ],
      utm_source: [{ code: 'too_long', max: 500, message: 'must have at most 500 characters' }],
    })
  })

  test('reports semantic faults together, the domain’s too', async () => {
    const wrong = { domain: 'co.uk', url: 'nope', key: 'a b', expires_at: 'tomorrow' }
    expectProblem(await api.post('/links', wrong), 'validation_failed', Object.keys(wrong))
  })

  test('reports missing required fields', async () => {
    expectProblem(await api.post('/links', {}), 'validation_failed', ['domain', 'url'])
    expectProblem(await api.post('/domains', {}), 'validation_failed', ['domain'])
  })

  test('returns 422 for unknown fields by name, and stores nothing', async () => {
    const total = await linkTotal()
    const sent = { domain: 'localhost', url: 'https://example.com/', utm_sorce: 'x', Key: 'k' }
    expectProblem(await api.post('/links', sent), 'validation_failed', ['Key', 'utm_sorce'])
    expectProblem(
      await api.post('/domains', { domain: 'go.acme.test', expired: null }),
      'validation_failed',
      ['expired'],
    )
    assert.equal(await linkTotal(), total)
  })

  test('refuses fields with the names of prototype properties, and pollutes no prototype', async () => {
    const known = '"domain":"localhost","url":"https://example.com/"'
    const bodies = PROTOTYPE_NAMES.flatMap((name) => [
      `{${known},"${name}":{"polluted":true}}`,
      `{${known},"${name}":{"prototype":{"polluted":true}}}`,
      `{${known},"id":{"${name}":{"prototype":{"polluted":true}}},"${name}":1}`,
    ])
    bodies.push(`{${known},"\\u005f_proto__":{"polluted":true}}`)
    for (const body of bodies) {
      const answer = await api.send('POST', '/links', jsonRequest(body))
      assert.ok([400, 422].includes(answer.status), `${body} was answered ${answer.status}`)
      expectProblem(answer, answer.status === 400 ? 'malformed_json' : 'validation_failed')
    }
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })

  test('handles JSON of any depth that fits into a body', async () => {
    const depth = 30_000
    const deep = '['.repeat(depth) + ']'.repeat(depth)
    const deepObject = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    expectProblem(await api.send('POST', '/links', jsonRequest(deep)), 'validation_failed', [
      'body',
    ])
    const known = '"domain":"localhost","url":"https://example.com/"'
    for (const value of [deep, deepObject]) {
      const unknown = await api.send('POST', '/links', jsonRequest(`{${known},"deep":${value}}`))
      expectProblem(unknown, 'validation_failed', ['deep'])
      const ignored = jsonRequest(`{${known},"id":${value}}`, {
        'idempotency-key': `deep-${value.length}`,
      })
      expectStatus(await api.send('POST', '/links', ignored), 201)
    }
  })

  test('uses the last value of a repeated field', async () => {
    const body =
      '{"domain":"localhost","url":"https://example.com/a","url":"https://example.com/b"}'
    const { body: link } = expectStatus(await api.send('POST', '/links', jsonRequest(body)), 201)
    assert.equal(link.url, 'https://example.com/b')
  })

  test('accepts the JSON content type without a body when no body is required', async () => {
    const headers = { 'content-type': JSON_TYPE }
    const link = { domain: 'localhost', url: 'https://example.com/' }
    const { id } = (await api.post('/links', link)).body
    const domainId = (await api.post('/domains', { domain: 'empty.acme.test' })).body.id
    for (const path of [
      '/links',
      `/links/${id}`,
      `/links/${id}/qr-code`,
      '/domains',
      `/domains/${domainId}`,
    ]) {
      expectStatus(await api.send('GET', path, { headers }), 200)
    }
    expectStatus(await api.send('PUT', `/links/${id}/qr-code`, { headers }), 200)
    expectStatus(await api.send('DELETE', `/links/${id}`, { headers }), 200)
    expectStatus(await api.send('DELETE', `/domains/${domainId}`, { headers }), 200)
  })

  test('returns 404 as JSON for an unknown path, with and without a token', async () => {
    for (const path of [
      ...['/api', '/api/', '/api/v1', '/api/v1/', '/api/v3/links', '/API/v1/links'],
      ...['/api/v1/nothing', '/api/v1/link', '/api/v1//links', '/api/v1/links/a/b'],
      ...['/api/v1/domains/x/qr-code', '/api/v1/customers', '/api/v1/links.json'],
      ...['/api/..%2f..%2fetc', `/api/v1/${'a'.repeat(5_000)}`],
    ]) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await visit(service.port, path, { method })
        assert.equal(answer.status, 404, `${method} ${path.slice(0, 60)}`)
        assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
        const { code, request_id } = JSON.parse(answer.body)
        assert.equal(code, 'not_found')
        assert.equal(request_id, answer.headers['x-request-id'])
      }
    }
  })

  test('returns an error envelope for an undecodable path or an overlong id', async () => {
    for (const path of ['/links/%ff', '/links/%', '/domains/%e0%a4%a', '/links/%00']) {
      const answer = await api.get(path)
      assert.ok([400, 404].includes(answer.status), path)
      expectProblem(answer, answer.status === 400 ? 'bad_request' : 'not_found')
    }
    const endless = await api.get(`/links/${'a'.repeat(5_000)}`)
    expectProblem(endless, endless.status === 400 ? 'bad_request' : 'not_found')
  })

  test('returns 404 for an unknown path before it checks the body', async () => {
    for (const init of [
      jsonRequest('{'),
      { headers: { 'content-type': 'text/plain' }, body: 'text' },
      jsonRequest(`"${'x'.repeat(BODY_BYTES_MAX)}"`),
    ]) {
      expectProblem(await api.send('POST', '/nothing', init), 'not_found')
    }
  })

  test('sends no-store and nosniff with every answer', async () => {
    for (const path of ['/links', '/nothing', '/links/none', '/domains?page=0']) {
      const { headers } = await api.get(path)
      assert.equal(headers.get('cache-control'), 'no-store', path)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
      assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, path)
    }
  })
})
