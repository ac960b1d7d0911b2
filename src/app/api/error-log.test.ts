import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Failure } from '../../platform/failure.ts'
import { ApiMeter } from '../../platform/http/api/request-timing.ts'
import { Throttle } from '../../platform/limits/throttle.ts'
import { Networks } from '../../platform/network/ip-address.ts'
import { Readiness } from '../../platform/process/readiness.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { type AppDependencies, buildApp } from './app.ts'

/** An application of which `/readyz` fails. */
function dependenciesWith(health: AppDependencies['health']): AppDependencies {
  const unused = {}
  const clock = systemClock()
  const limit = { clock, limit: 1, windowSeconds: 1, keysMax: 1 }
  const networks = new Networks()
  return {
    api: undefined,
    authenticator: unused as AppDependencies['authenticator'],
    sessionCache: unused as AppDependencies['sessionCache'],
    sessionCookie: unused as AppDependencies['sessionCookie'],
    mailer: undefined,
    clock,
    trustedProxies: networks,
    baseUrl: 'http://localhost',
    rateLimit: 0,
    throttle: new Throttle(limit),
    workspaceThrottle: new Throttle(limit),
    quotas: unused as AppDependencies['quotas'],
    readiness: new Readiness(),
    health,
    clicksFault: async () => null,
    countedUntil: async () => null,
    apiMeter: new ApiMeter(),
    metrics: { contentType: '', text: async () => '', readers: networks, trustedProxies: networks },
  }
}

async function askAll(requests: number, health: AppDependencies['health']) {
  const lines: string[] = []
  const log = pino({}, { write: (line) => lines.push(line) })
  const app = await buildApp(dependenciesWith(health), log)
  const asked = Array.from({ length: requests }, () => app.inject('/readyz'))
  const answers = await Promise.all(asked)
  await app.close()
  return { answers, logged: lines.map((line) => JSON.parse(line)) }
}

test('a failed request is logged under the request id that the client received', async () => {
  const { answers, logged } = await askAll(2, () => {
    throw new Error('on purpose')
  })
  for (const { statusCode, headers, body } of answers) {
    assert.equal(statusCode, 500)
    const id = headers['x-request-id']
    const { message, request_id } = JSON.parse(body)
    assert.equal(request_id, id)
    assert.ok(message.includes(String(id)), message)
    const [entry, ...others] = logged.filter(({ reqId }) => reqId === id)
    assert.equal(entry?.err.message, 'on purpose')
    assert.deepEqual(others, [])
  }
})

test('refused requests are logged once for each kind of cause, and named as what they are', async () => {
  const failures = [
    Failure.unavailable(new Error('refused'), { kind: 'single_sign_on', message: 'No provider.' }),
    Failure.unavailable(new Error('full'), { kind: 'data_folder_full' }),
    Failure.unavailable(new Error('down')),
  ]
  let nth = 0
  const { answers, logged } = await askAll(300, () => {
    nth += 1
    throw failures[nth % failures.length] ?? new Error('unreachable')
  })
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([503]))
  assert.deepEqual(logged.map(({ msg, kind, err }) => [msg, kind, err.message]).sort(), [
    ['requests refused', 'data_folder_full', 'full'],
    ['requests refused', 'database', 'down'],
    ['requests refused', 'single_sign_on', 'refused'],
  ])
})
