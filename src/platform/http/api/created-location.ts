import type { FastifyInstance } from 'fastify'

/**
 * Sets `Location` in the answer to a create, where a `GET` shows what was created: of `POST /links`, for which there is
 * `GET /links/:id`, it is `/links/<id>`. Call before the routes are registered.
 */
export function locateCreated(app: FastifyInstance): void {
  const shown = new Set<string>()
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET') shown.add(route.url)
    if (route.method !== 'POST') return
    const others = [route.preSerialization ?? []].flat()
    // The routes that show things may be registered later.
    route.preSerialization = [
      ...others,
      (request, reply, payload: unknown, done) => {
        const { url = '' } = request.routeOptions
        if (reply.statusCode === 201 && shown.has(`${url}/:id`) && hasId(payload)) {
          reply.header('Location', `${url}/${payload.id}`)
        }
        done(null, payload)
      },
    ]
  })
}

function hasId(payload: unknown): payload is { readonly id: string } {
  return typeof payload === 'object' && payload !== null && 'id' in payload
}
