import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type AuthenticationDependencies, mayStill } from './authentication.ts'

/** Why an answer breaks off in the middle. */
class AccessEnded extends Error {
  override readonly name = 'AccessEnded'
}

/**
 * Breaks off the streamed answer to an operation, such as an export, once its caller may no longer perform it: the
 * session or token has ended, or the role has changed. Call before answers are compressed.
 */
export function breakOffWithAccess(app: FastifyInstance, deps: AuthenticationDependencies): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { actor, method, routeOptions } = request
    // An endless answer asks by itself, to end with an event. To HEAD nothing is sent.
    const isGuarded = actor !== null && method !== 'HEAD' && !routeOptions.config.isEndless
    const isStream = payload instanceof Readable
    done(null, isGuarded && isStream ? whileAllowed(deps, request, payload) : payload)
  })
}

function whileAllowed(
  deps: AuthenticationDependencies,
  request: FastifyRequest,
  source: Readable,
): Readable {
  async function* chunks() {
    for await (const chunk of source) {
      if (!(await mayStill(deps, request))) {
        throw new AccessEnded('The caller may no longer have this answer.')
      }
      yield chunk
    }
  }
  const stream = Readable.from(chunks(), { objectMode: false })
  // The loop does not end its source when the answer is closed before it was begun.
  stream.once('close', () => source.destroy())
  return stream
}
