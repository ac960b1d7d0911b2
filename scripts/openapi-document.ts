import { pino } from 'pino'
import { buildApp } from '../src/app/api/app.ts'
import type { AppDependencies } from '../src/app/api/app-dependencies.ts'
import { ApiMeter } from '../src/platform/http/api/api-meter.ts'
import { Throttle } from '../src/platform/limits/throttle.ts'
import { Networks } from '../src/platform/network/ip-address.ts'
import { Readiness } from '../src/platform/process/readiness.ts'
import { systemClock } from '../src/platform/time/clock.ts'

/** Returns the API description that the service serves. */
export async function openApiDocument(): Promise<object> {
  const unused = () => {
    throw new Error('describing the API calls no operation')
  }
  const nobody = new Proxy({}, { get: () => unused })
  const deps: AppDependencies = {
    links: nobody as AppDependencies['links'],
    domains: nobody as AppDependencies['domains'],
    clicks: nobody as AppDependencies['clicks'],
    domainChecks: nobody as AppDependencies['domainChecks'],
    qrPictures: nobody as AppDependencies['qrPictures'],
    servesApi: true,
    domainHttps: nobody as AppDependencies['domainHttps'],
    authenticator: nobody as AppDependencies['authenticator'],
    idempotency: unused,
    cursors: nobody as AppDependencies['cursors'],
    baseUrl: 'http://localhost',
    rateLimit: 0,
    throttle: new Throttle({ clock: systemClock(), limit: 1, windowSeconds: 1, keysMax: 1 }),
    quotas: nobody as AppDependencies['quotas'],
    workspaceThrottle: new Throttle({
      clock: systemClock(),
      limit: 1,
      windowSeconds: 1,
      keysMax: 1,
    }),
    usage: unused,
    readiness: new Readiness(),
    health: unused,
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
