import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { takesTokens } from '../../src/identity/permissions.ts'
import { type Answer, type Api, apiClient, expectStatus } from '../support/api.ts'
import { describedSchema, expectDescribed } from '../support/described-schema.ts'
import { SQLITE } from '../support/engines.ts'
import {
  type AccessedOperation,
  type Description,
  jsonRequest,
  type Operation,
  PREFIX,
  pictureRequest,
  readDescription,
  readEveryOperation,
  readOperations,
  UNKNOWN_ID,
  validRequest,
} from '../support/operations.ts'
import { MAY_READ, startSite } from '../support/page-of-others.ts'
import { setUp } from '../support/person-client.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const COMMITTED = new URL('../../docs/openapi.json', import.meta.url)

/** Statuses that other tests check, because they need a special state of the service. */
const CHECKED_ELSEWHERE = new Set(['304', '426', '429', '500', '503'])

/** Families whose resources have a name of their own in the workspace. */
const NAMED: ReadonlySet<string> = new Set(['utm-templates', 'rule-sets'])

/** Answers of which JSON can show no example. */
const IN_BYTES = new Set(['image/png', 'application/zip'])

/** Every route that is registered with Fastify while `work` runs. */
async function routesGivenDuring(work: () => Promise<unknown>): Promise<RouteOptions[]> {
  const routes: RouteOptions[] = []
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', (route) => {
      routes.push(route)
    })
  }
  subscribe('fastify.initialization', watch)
  try {
    await work()
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
  return routes
}

describe('the OpenAPI document', () => {
  let service: Service
  let site: Awaited<ReturnType<typeof startSite>>
  let routes: RouteOptions[]
  let description: Description
  let operations: readonly Operation[]
  let everyOperation: readonly AccessedOperation[]
  let api: Api
  before(async () => {
    routes = await routesGivenDuring(async () => {
      service = await startService(SQLITE, MAY_READ)
    })
    description = await readDescription(service.baseUrl)
    site = await startSite()
    operations = await readOperations(service.baseUrl, site.url)
    everyOperation = await readEveryOperation(service.baseUrl)
    api = await service.api()
  })
  after(() => Promise.all([service.stop(), site[Symbol.asyncDispose]()]))

  test('is OpenAPI 3.1, and served without a token', async () => {
    assert.match(description.openapi, /^3\.1\.\d+$/)
    const answer = await apiClient(service.baseUrl, undefined).get('/openapi.json')
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  })

  test('equals docs/openapi.json', () => {
    assert.deepEqual(description, JSON.parse(readFileSync(COMMITTED, 'utf8')))
  })

  test('contains every route that is an operation, and no other', () => {
    const real = routes
      .filter(({ url, config }) => url.startsWith(PREFIX) && config?.operation !== undefined)
      .flatMap(({ method, url }) =>
        [method]
          .flat()
          .filter((name) => name !== 'HEAD')
          .map((name) => `${name} ${url.replaceAll(/:(\w+)/g, '{$1}')}`),
      )
    assert.deepEqual(real.toSorted(), everyOperation.map(({ name }) => name).toSorted())
  })

  test('is, with those of OAuth and other services, the only route under /api that is no operation', async () => {
    const open = routes.filter(
      ({ url, config }) =>
        url.startsWith('/api') &&
        !/^\/api\/(?:oauth|v2)\//.test(url) &&
        config?.operation === undefined,
    )
    assert.ok(open.length > 0)
    for (const { method, url } of open) {
      for (const name of [method].flat()) {
        const path = url.replace(':id', UNKNOWN_ID)
        const { status } = await visit(service.port, path, { method: name })
        const isDescription =
          path === `${PREFIX}/openapi.json` && (name === 'GET' || name === 'HEAD')
        assert.equal(status, isDescription ? 200 : 405, `${name} ${url}`)
      }
    }
  })

  test('says of each operation whether it takes a token, a session or neither', () => {
    const { components } = description as Description & {
      components: { securitySchemes: Readonly<Record<string, { readonly type: string }>> }
    }
    const { token, session, ...others } = components.securitySchemes
    assert.equal(token?.type, 'http')
    assert.equal(session?.type, 'apiKey')
    assert.deepEqual(others, {})
    for (const { name, access, method, template } of everyOperation) {
      const described = description.paths[PREFIX + template]?.[method.toLowerCase()]
      const schemes = described?.security.flatMap((scheme) => Object.keys(scheme))
      const expected = takesTokens(access) ? ['token', 'session'] : ['session']
      assert.deepEqual(schemes, access === 'open' ? [] : expected, name)
    }
  })

  test('names each operation as a method, and describes it and its parameters', () => {
    const ids = new Set<string>()
    for (const methods of Object.values(description.paths)) {
      for (const operation of Object.values(methods)) {
        const { operationId = '', tags = [], ...rest } = operation
        assert.match(operationId, /^[a-z]+([A-Z][a-z]+)*\.[a-z]+([A-Z][a-z]+)*$/)
        assert.ok(!ids.has(operationId), operationId)
        ids.add(operationId)
        assert.equal(tags.length, 1, operationId)
        assert.ok(rest.summary && rest.description, operationId)
        for (const { name, description: text } of rest.parameters ?? []) {
          assert.ok(text, `${operationId} ${name}`)
        }
      }
    }
    assert.equal(ids.size, everyOperation.length)
  })

  test('lists 405 and 500 for every operation, and Retry-After with 429 and 503', () => {
    for (const { name, responses } of operations) {
      for (const status of ['405', '426', '500']) assert.ok(responses[status], `${name} ${status}`)
      for (const status of ['429', '503']) {
        const header = responses[status]?.headers?.['Retry-After']
        assert.deepEqual(header, { $ref: '#/components/headers/Retry-After' }, name)
      }
    }
    assert.ok(description.components.headers['Retry-After']?.description)
  })

  test('leaves answers open to fields of later versions, and no request', () => {
    const openSchemas: string[] = []
    for (const [name, schema] of Object.entries(description.components.schemas)) {
      if ('properties' in schema && !('additionalProperties' in schema)) openSchemas.push(name)
    }
    assert.ok(openSchemas.includes('Link') && openSchemas.includes('Problem'))
    assert.deepEqual(
      openSchemas.filter((name) => name.endsWith('Input')),
      [],
    )
  })

  test('answers every deletion with 200 and a message', () => {
    for (const { name, responses } of operations.filter(({ method }) => method === 'DELETE')) {
      const reference = JSON.stringify(responses['200']?.content['application/json']?.schema)
      const [id = ''] = /[^/"]+(?="})/.exec(reference) ?? []
      const schema = JSON.stringify(description.components.schemas[id])
      assert.match(schema, /"message":{"type":"string","const":/, `${name}: ${id}`)
      assert.match(schema, /"required":\[[^\]]*"message"/, name)
    }
  })

  test('contains no read-only field in a request', () => {
    assert.ok(!JSON.stringify(description).includes('readOnly'))
  })

  test('describes the file of an import as bytes', () => {
    const { put } = description.paths['/api/v1/imports/{id}/file'] ?? {}
    assert.deepEqual(Object.keys(put?.requestBody?.content ?? {}), ['application/octet-stream'])
  })

  test('marks only the body of the QR code as optional', () => {
    const optional = Object.values(description.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ requestBody }) => requestBody?.required === false)
      .map(({ operationId }) => operationId)
    assert.deepEqual(optional, ['links.drawQrCode'])
  })

  test('has an example of every answer, which satisfies its schema', () => {
    let examples = 0
    for (const methods of Object.values(description.paths)) {
      for (const { operationId = '', responses } of Object.values(methods)) {
        const succeeding = Object.entries(responses).filter(([status]) => status.startsWith('2'))
        assert.notEqual(succeeding.length, 0, operationId)
        for (const [status, { content = {} }] of succeeding) {
          for (const [type, { schema, example }] of Object.entries(content)) {
            if (IN_BYTES.has(type)) continue
            const what = `${operationId} ${status} ${type}`
            assert.notEqual(example, undefined, `${what} has no example`)
            expectDescribed(describedSchema(description, schema), example, what)
            examples += 1
          }
        }
      }
    }
    assert.ok(examples >= everyOperation.length)
  })

  test('contains only examples that satisfy their schemas', () => {
    let examples = 0
    const look = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      if ('examples' in node && Array.isArray(node.examples)) {
        const { examples: given, ...schema } = node
        for (const example of given) {
          expectDescribed(describedSchema(description, schema), example, JSON.stringify(example))
          examples += 1
        }
      }
      for (const child of Object.values(node)) look(child)
    }
    look(description)
    assert.ok(examples > 0)
  })

  test('describes exactly the answers that the service gives, by status and by schema', async () => {
    const anonymous = apiClient(service.baseUrl, undefined)
    const person = await setUp(service)
    const powerless = apiClient(service.baseUrl, await service.token('acme', []))
    const oversize = (bytesMax: number) =>
      jsonRequest(JSON.stringify({ id: 'x'.repeat(bytesMax + 5_000) }))

    /** Reports another conversion with the key of the first. */
    const reportTwice = async () => {
      const link = { domain: 'localhost', key: 'tracked', track_conversions: true }
      await api.post('/links', { ...link, url: 'https://shop.example.com/' })
      const { location = '' } = (await visit(service.port, '/tracked')).headers
      const order = { token: new URL(location).searchParams.get('tc'), idempotency_key: 'order' }
      expectStatus(await api.post('/conversions', { ...order, event: 'order' }), 200)
      return api.post('/conversions', { ...order, event: 'another' })
    }

    /** How each status is provoked. */
    const provoke: Record<string, (operation: Operation, path: string) => Promise<Answer>> = {
      400: (operation, path) =>
        operation.takesId
          ? api.send(operation.method, operation.pathFor('%zz'), validRequest(operation))
          : person.send(operation.method, path),
      401: (operation, path) => anonymous.send(operation.method, path, validRequest(operation)),
      403: (operation, path) => powerless.send(operation.method, path, validRequest(operation)),
      404: (operation, path) =>
        operation.takesId
          ? api.send(operation.method, operation.pathFor(UNKNOWN_ID), validRequest(operation))
          : person.send(operation.method, path, undefined, { 'terse-workspace': UNKNOWN_ID }),
      405: (_operation, path) => api.send('PROPFIND', path),
      409: async (operation, path) => {
        if (operation.method === 'DELETE') {
          const id = path.split('/').at(-1)
          const link = { domain: 'localhost', url: 'https://example.com/', rule_set: id }
          expectStatus(await api.post('/links', link), 201)
          return api.delete(path)
        }
        if (operation.method !== 'POST' || isRevert(operation))
          return changeExample(api, operation, path)
        if (operation.family === 'conversions') return reportTwice()
        const key = { 'idempotency-key': operation.template.slice(1) }
        const [first, second] = [operation.validBody, operation.otherBody].map((body) =>
          JSON.stringify({ ...body, ...nextName(operation.family) }),
        )
        const { success } = operation
        expectStatus(await api.send('POST', path, jsonRequest(first ?? '', key)), success)
        return api.send('POST', path, jsonRequest(second ?? '', key))
      },
      412: ({ method, ...operation }, path) => {
        const { headers, ...sent } = validRequest({ method, ...operation })
        return api.send(method, path, {
          ...sent,
          headers: { ...(headers as Record<string, string>), 'if-match': '"another"' },
        })
      },
      413: ({ method, family, bodyBytesMax }, path) => {
        if (family !== 'images') return api.send(method, path, oversize(bodyBytesMax))
        return api.send(method, path, pictureRequest(new Uint8Array(bodyBytesMax + 5_000)))
      },
      415: ({ method }, path) => api.send(method, path, { body: 'plain text' }),
      422: ({ method, validBody }, path) => {
        if (validBody !== undefined) return api.send(method, path, jsonRequest('{"bogus":1}'))
        if (method === 'POST')
          return api.send(method, path, { headers: { 'idempotency-key': 'k' } })
        const wrong = 'page=0&per_page=0&color=pale&interval=week&format=xml&include=all'
        return api.send(method, `${path}${path.includes('?') ? '&' : '?'}${wrong}`)
      },
    }

    let renamed = 0
    const nextName = (family: Operation['family']) => {
      renamed += 1
      if (NAMED.has(family)) return { name: `renamed ${renamed}` }
      return family === 'domains' ? { domain: `renamed-${renamed}.acme.test` } : {}
    }
    const succeed: (typeof provoke)[string] = (operation, path) => {
      const { method, family, validBody } = operation
      if (isRevert(operation)) return changeLink(api, path).then((body) => api.post(path, body))
      const hasName = validBody !== undefined && ('domain' in validBody || 'name' in validBody)
      const own = hasName ? nextName(family) : {}
      const isList = Array.isArray(validBody)
      const body = JSON.stringify(isList ? validBody : { ...validBody, ...own })
      return api.send(method, path, validBody ? jsonRequest(body) : validRequest(operation))
    }

    for (const operation of operations) {
      const { template, responses } = operation
      for (const [status, response] of Object.entries(responses)) {
        if (CHECKED_ELSEWHERE.has(status)) continue
        const what = `${operation.name} ${status}`
        const owned = operation.takesId ? await create(operation) : ''
        const path = operation.pathFor(owned)
        const send = provoke[status] ?? succeed
        const answer = await send(operation, path)
        assert.equal(String(answer.status), status, `${what}: ${JSON.stringify(answer.body)}`)
        const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
        const described = response.content[type]
        assert.ok(described, `${what} is ${type}, which is not described`)
        if (type !== 'application/json') continue
        expectDescribed(describedSchema(description, described.schema), answer.body, what)
      }
      assert.ok('429' in responses && '503' in responses, `${template} can always be refused`)
    }
  })

  /** A file can be sent to one, the other can be started. */
  const newImport = (template: string) =>
    template.endsWith('/file')
      ? { source: 'csv' }
      : { source: 'shlink', url: 'http://127.0.0.1:9', token: 'token' }

  let created = 0
  async function create({
    family,
    template,
  }: Pick<Operation, 'family' | 'template'>): Promise<string> {
    created += 1
    const domain = { domain: `made-${created}.acme.test` }
    const body =
      family === 'domains'
        ? domain
        : family === 'webhooks'
          ? { url: 'https://hooks.example.com/', events: ['link.created'] }
          : family === 'imports'
            ? newImport(template)
            : NAMED.has(family)
              ? { name: `made ${created}` }
              : {
                  domain: 'localhost',
                  url: template.endsWith('/preview') ? site.url : 'https://example.com/',
                }
    return expectStatus(await api.post(`/${family}`, body), 201).body.id
  }

  test('describes non-empty lists, and links with every field set', async () => {
    const full = {
      domain: 'localhost',
      key: 'full',
      url: 'https://example.com/',
      ios: 'https://example.com/ios',
      android: 'https://example.com/android',
      utm_source: 's',
      utm_medium: 'm',
      utm_campaign: 'c',
      utm_term: 't',
      utm_content: 'o',
      utm_name: 'n',
      external_id: Number.MAX_SAFE_INTEGER,
      password: 'secret',
      expires_at: '2099-12-31T23:59:59+01:00',
      expired_redirect_url: 'https://example.com/over',
      tags: ['a', 'b'],
    }
    expectStatus(await api.post('/links', full), 201)
    for (const path of ['/links', '/links?search=full', '/domains', '/links?page=99']) {
      const template = path.split('?')[0]
      const list = operations.find((operation) => operation.name === `GET ${PREFIX}${template}`)
      const schema = list?.responses['200']?.content['application/json']?.schema
      assert.ok(schema)
      const { body } = expectStatus(await api.get(path), 200)
      expectDescribed(describedSchema(description, schema), body, path)
    }
  })
})

function isRevert({ template }: Operation): boolean {
  return template.endsWith('/revert')
}

/** Changes a link. @returns the body of the revert of that */
async function changeLink(api: Api, path: string): Promise<{ sequence: number }> {
  const link = `/links/${path.split('/')[2]}`
  expectStatus(await api.patch(link, { url: 'https://example.com/later' }), 200)
  return { sequence: (await api.get(`${link}/history`)).body.data[0].sequence }
}

/** Changes where an example of a link leads. */
async function changeExample(
  api: Api,
  { method, template, validBody }: Operation,
  path: string,
): Promise<Answer> {
  const examples = `/links/${path.split('/')[2]}/examples`
  const revert = template.endsWith('/revert') ? await changeLink(api, path) : undefined
  const example = { name: 'All', visitor: { query: 'a=1' } }
  expectStatus(await api.put(examples, { examples: [example] }), 200)
  const changed = { domain: 'localhost', url: 'https://example.com/changed' }
  const body =
    revert ??
    (template.endsWith('/options')
      ? { query: 'drop' }
      : template.endsWith('/rules')
        ? validBody
        : changed)
  return api.send(method, path, jsonRequest(JSON.stringify(body)))
}
