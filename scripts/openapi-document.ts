import { pino } from 'pino'
import { type ApiServices, type AppDependencies, buildApp } from '../src/app/api/app.ts'
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
  const clock = systemClock()
  const limit = { clock, limit: 1, windowSeconds: 1, keysMax: 1 }
  const networks = new Networks()
  // Routes use the others only when they are called.
  const services: Partial<ApiServices> = { baseUrl: 'http://localhost' }
  const deps: AppDependencies = {
    api: services as ApiServices,
    authenticator: unusable as AppDependencies['authenticator'],
    sessionCache: unusable as AppDependencies['sessionCache'],
    sessionCookie: unusable as AppDependencies['sessionCookie'],
    mailer: undefined,
    clock,
    trustedProxies: networks,
    baseUrl: 'http://localhost',
    rateLimit: 0,
    throttle: new Throttle(limit),
    workspaceThrottle: new Throttle(limit),
    quotas: unusable as AppDependencies['quotas'],
    readiness: new Readiness(),
    health: unused,
    clicksFault: async () => null,
    countedUntil: unused,
    apiMeter: new ApiMeter(),
    metrics: { contentType: '', text: unused, readers: networks, trustedProxies: networks },
  }
  const app = await buildApp(deps, pino({ level: 'silent' }))
  const response = await app.inject('/api/v1/openapi.json')
  await app.close()
  return response.json()
}
