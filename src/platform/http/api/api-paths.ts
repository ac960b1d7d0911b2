import type { FastifyInstance } from 'fastify'
import { http } from '../node-http.ts'
import { HttpRefusal } from './problem.ts'

/** All methods that Node parses, except `CONNECT`, for which it calls no request listener. */
const METHODS = http.METHODS.filter((method) => method !== 'CONNECT')

/** Collects the methods of each API path. Call before the routes are registered. */
export function collectMethods(app: FastifyInstance): Map<string, Set<string>> {
  const methodsOf = new Map<string, Set<string>>()
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/api/')) return
    const methods = methodsOf.get(route.url) ?? new Set()
    for (const method of [route.method].flat()) methods.add(method)
    methodsOf.set(route.url, methods)
  })
  return methodsOf
}

/** Answers 405 for all other methods of these paths. Call after the routes are registered. */
export function refuseOtherMethods(
  app: FastifyInstance,
  methodsOf: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  for (const [url, methods] of [...methodsOf]) {
    const allow = METHODS.filter((method) => methods.has(method)).join(', ')
    const others = METHODS.filter((method) => !methods.has(method))
    app.route({
      url,
      method: [...others],
      schema: { hide: true },
      // In this hook, because a body that cannot be parsed would otherwise be reported first.
      onRequest: async () => {
        throw new HttpRefusal('method_not_allowed', `Use one of ${allow}.`, { Allow: allow })
      },
      handler: async () => {},
    })
  }
}
