import { pino } from 'pino'
import { buildApp } from '../src/app/api/app.ts'
import type { AppDependencies } from '../src/app/api/app-dependencies.ts'
import { ApiMeter } from '../src/platform/http/api/request-timing.ts'
import { Throttle } from '../src/platform/limits/throttle.ts'
import { Networks } from '../src/platform/network/ip-address.ts'
import { Readiness } from '../src/platform/process/readiness.ts'
import { systemClock } from '../src/platform/time/clock.ts'

/** Returns the API description that the service serves. */
export async function openApiDocument(): Promise<object> {
  const unused = () => {
    throw new Error('describing the API calls no operation')
  }
  const unusable = new Proxy({}, { get: () => unused })
  const deps: AppDependencies = {
    links: unusable as AppDependencies['links'],
    utmTemplates: unusable as AppDependencies['utmTemplates'],
    tags: unusable as AppDependencies['tags'],
    bulkLinks: unusable as AppDependencies['bulkLinks'],
    bulkRequests: unusable as AppDependencies['bulkRequests'],
    workspaceExports: unusable as AppDependencies['workspaceExports'],
    imports: unusable as AppDependencies['imports'],
    uploads: unusable as AppDependencies['uploads'],
    linkExports: unusable as AppDependencies['linkExports'],
    linkKeys: unusable as AppDependencies['linkKeys'],
    domains: unusable as AppDependencies['domains'],
    clicks: unusable as AppDependencies['clicks'],
    liveClicks: unusable as AppDependencies['liveClicks'],
    includedOfDomains: unusable as AppDependencies['includedOfDomains'],
    domainChecks: unusable as AppDependencies['domainChecks'],
    qrPictures: unusable as AppDependencies['qrPictures'],
    events: unusable as AppDependencies['events'],
    servesApi: true,
    domainHttps: unusable as AppDependencies['domainHttps'],
    authenticator: unusable as AppDependencies['authenticator'],
    sessionCache: unusable as AppDependencies['sessionCache'],
    sessionCookie: unusable as AppDependencies['sessionCookie'],
    sessions: unusable as AppDependencies['sessions'],
    signIn: unusable as AppDependencies['signIn'],
    people: unusable as AppDependencies['people'],
    setup: unusable as AppDependencies['setup'],
    setupLinks: unusable as AppDependencies['setupLinks'],
    ownFactors: unusable as AppDependencies['ownFactors'],
    ownPasskeys: unusable as AppDependencies['ownPasskeys'],
    ownIdentities: unusable as AppDependencies['ownIdentities'],
    oidc: undefined,
    callbackThrottle: unusable as AppDependencies['callbackThrottle'],
    mailer: undefined,
    emailChanges: unusable as AppDependencies['emailChanges'],
    passwordResets: unusable as AppDependencies['passwordResets'],
    answerSession: unusable as AppDependencies['answerSession'],
    workspaces: unusable as AppDependencies['workspaces'],
    members: unusable as AppDependencies['members'],
    invitations: unusable as AppDependencies['invitations'],
    acceptInvitation: unusable as AppDependencies['acceptInvitation'],
    tokens: unusable as AppDependencies['tokens'],
    accounts: unusable as AppDependencies['accounts'],
    resetLinks: unusable as AppDependencies['resetLinks'],
    mailInvitation: undefined,
    clock: systemClock(),
    trustedProxies: new Networks(),
    idempotency: unusable as AppDependencies['idempotency'],
    cursors: unusable as AppDependencies['cursors'],
    baseUrl: 'http://localhost',
    rateLimit: 0,
    throttle: new Throttle({ clock: systemClock(), limit: 1, windowSeconds: 1, keysMax: 1 }),
    quotas: unusable as AppDependencies['quotas'],
    workspaceThrottle: new Throttle({
      clock: systemClock(),
      limit: 1,
      windowSeconds: 1,
      keysMax: 1,
    }),
    usage: unused,
    instanceState: unused,
    diagnose: unused,
    readiness: new Readiness(),
    health: unused,
    countedUntil: unused,
    apiMeter: new ApiMeter(),
    metrics: {
      contentType: '',
      text: unused,
      readers: new Networks(),
      trustedProxies: new Networks(),
    },
  }
  const app = await buildApp(deps, pino({ level: 'silent' }))
  const response = await app.inject('/api/v1/openapi.json')
  await app.close()
  return response.json()
}
