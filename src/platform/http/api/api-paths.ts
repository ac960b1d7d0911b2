import type { FastifyInstance } from 'fastify'
import findMyWay from 'find-my-way'
import { http } from '../node-http.ts'
import { HttpRefusal } from './problem.ts'

/** The paths of the API, for requests whose method no route of their path has. */
export type ApiPaths = {
  /** Returns the pattern of a path, such as `/api/v1/links/:id`; undefined when no route has it. */
  readonly patternOf: (url: string) => string | undefined
  /** Returns the answer to a request for which there is no route: 405 where its path has other methods. */
  readonly refusalOf: (url: string) => HttpRefusal
  /**
   * Refuses methods that a path like `/links/export` does not have and a pattern like `/links/:id` has, whose
   * routes would answer them. Call after the routes are registered.
   */
  readonly refuseMethodsOfPatterns: () => void
}

type Path = {
  readonly pattern: string
  readonly parts: readonly string[]
  readonly methods: Set<string>
}

/**
 * Collects the paths of the API. Call before the routes are registered. They have a router of their own: a route
 * for each method that a path does not have would take 4 MiB.
 *
 * @param options as the application's own router, so that both read paths alike
 */
export function collectPaths(
  app: FastifyInstance,
  options: { readonly maxParamLength: number },
): ApiPaths {
  const router = findMyWay(options)
  const paths = new Map<string, Path>()
  let isComplete = false
  app.addHook('onRoute', ({ url, method }) => {
    if (!url.startsWith('/api/')) return
    let path = paths.get(url)
    if (path === undefined) {
      path = { pattern: url, parts: url.split('/'), methods: new Set() }
      paths.set(url, path)
      router.on('GET', url, () => {}, path)
    }
    if (!isComplete) for (const one of [method].flat()) path.methods.add(one)
  })

  function find(url: string): Path | undefined {
    // Null for a path that cannot be decoded.
    return router.find('GET', url)?.store ?? undefined
  }

  function refusalOf(url: string): HttpRefusal {
    const path = find(url)
    if (path === undefined) return new HttpRefusal('not_found', 'There is nothing at this address.')
    const allow = http.METHODS.filter((method) => path.methods.has(method)).join(', ')
    return new HttpRefusal('method_not_allowed', `Use one of ${allow}.`, { Allow: allow })
  }

  function refuseMethodsOfPatterns(): void {
    isComplete = true
    for (const path of [...paths.values()]) {
      const around = [...paths.values()].filter((other) => isWithin(path, other))
      const methods = new Set(around.flatMap((other) => [...other.methods]))
      const others = [...methods].filter((method) => !path.methods.has(method))
      if (others.length > 0) refuse(path.pattern, others)
    }
  }

  function refuse(url: string, method: string[]): void {
    app.route({
      url,
      method,
      schema: { hide: true },
      // In this hook, because a body that cannot be parsed would otherwise be reported first.
      onRequest: async (request) => {
        throw refusalOf(request.url)
      },
      handler: async () => {},
    })
  }

  return { patternOf: (url) => find(url)?.pattern, refusalOf, refuseMethodsOfPatterns }
}

/** Whether the outer path matches whatever the inner one matches. */
function isWithin(inner: Path, outer: Path): boolean {
  return (
    inner !== outer &&
    inner.parts.length === outer.parts.length &&
    outer.parts.every((part, index) => part.startsWith(':') || part === inner.parts[index])
  )
}
