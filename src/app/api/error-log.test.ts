import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Failure } from '../../platform/failure.ts'
import { ApiMeter } from '../../platform/http/api/request-timing.ts'
import { Throttle } from '../../platform/limits/throttle.ts'
import { Networks } from '../../platform/network/ip-address.ts'
import { Readiness } from '../../platform/process/readiness.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { buildApp } from './app.ts'
import type { AppDependencies } from './app-dependencies.ts'

/** An application of which `/readyz` fails. */
function dependenciesWith(health: AppDependencies['health']): AppDependencies {
  const unused = {}
  return {
    links: unused as AppDependencies['links'],
    utmTemplates: unused as AppDependencies['utmTemplates'],
    tags: unused as AppDependencies['tags'],
    bulkLinks: unused as AppDependencies['bulkLinks'],
    bulkRequests: unused as AppDependencies['bulkRequests'],
    workspaceExports: unused as AppDependencies['workspaceExports'],
    imports: unused as AppDependencies['imports'],
    uploads: unused as AppDependencies['uploads'],
    linkExports: unused as AppDependencies['linkExports'],
    linkKeys: unused as AppDependencies['linkKeys'],
    domains: unused as AppDependencies['domains'],
    clicks: unused as AppDependencies['clicks'],
    liveClicks: unused as AppDependencies['liveClicks'],
    includedOfDomains: unused as AppDependencies['includedOfDomains'],
    domainChecks: unused as AppDependencies['domainChecks'],
    qrPictures: unused as AppDependencies['qrPictures'],
    events: unused as AppDependencies['events'],
    servesApi: true,
    domainHttps: unused as AppDependencies['domainHttps'],
    authenticator: unused as AppDependencies['authenticator'],
    sessionCache: unused as AppDependencies['sessionCache'],
    sessionCookie: unused as AppDependencies['sessionCookie'],
    sessions: unused as AppDependencies['sessions'],
    signIn: unused as AppDependencies['signIn'],
    people: unused as AppDependencies['people'],
    setup: unused as AppDependencies['setup'],
    setupLinks: unused as AppDependencies['setupLinks'],
    ownFactors: unused as AppDependencies['ownFactors'],
    ownPasskeys: unused as AppDependencies['ownPasskeys'],
    ownIdentities: unused as AppDependencies['ownIdentities'],
    oidc: undefined,
    callbackThrottle: unused as AppDependencies['callbackThrottle'],
    mailer: undefined,
    emailChanges: unused as AppDependencies['emailChanges'],
    passwordResets: unused as AppDependencies['passwordResets'],
    answerSession: unused as AppDependencies['answerSession'],
    workspaces: unused as AppDependencies['workspaces'],
    members: unused as AppDependencies['members'],
    invitations: unused as AppDependencies['invitations'],
    acceptInvitation: unused as AppDependencies['acceptInvitation'],
    tokens: unused as AppDependencies['tokens'],
    accounts: unused as AppDependencies['accounts'],
    resetLinks: unused as AppDependencies['resetLinks'],
    mailInvitation: undefined,
    clock: systemClock(),
    trustedProxies: new Networks(),
    idempotency: unused as AppDependencies['idempotency'],
    cursors: unused as AppDependencies['cursors'],
    baseUrl: 'http://localhost',
    rateLimit: 0,
    throttle: new Throttle({ clock: systemClock(), limit: 1, windowSeconds: 1, keysMax: 1 }),
    quotas: unused as AppDependencies['quotas'],
    workspaceThrottle: new Throttle({
      clock: systemClock(),
      limit: 1,
      windowSeconds: 1,
      keysMax: 1,
    }),
    usage: async () => {
      throw new Error('unused')
    },
    instanceState: async () => {
      throw new Error('unused')
    },
    diagnose: async () => {
      throw new Error('unused')
    },
    readiness: new Readiness(),
    countedUntil: async () => null,
    health,
    apiMeter: new ApiMeter(),
    metrics: {
      contentType: 'text/plain',
      text: async () => '',
      readers: new Networks(),
      trustedProxies: new Networks(),
    },
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
