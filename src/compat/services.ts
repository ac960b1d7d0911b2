import type { FastifyPluginAsync } from 'fastify'
import { bitly } from './bitly/bitly.ts'
import type { CompatDependencies } from './clients.ts'
import { kutt } from './kutt/kutt.ts'
import { polr } from './polr/polr.ts'
import { shlink } from './shlink/shlink.ts'
import { yourls } from './yourls/yourls.ts'

/**
 * The APIs of other services, one plugin each, in a context of its own: bodies and errors have the forms of that
 * service. They are no operations: what they do, they do through ours.
 */
const SERVICES: readonly FastifyPluginAsync<CompatDependencies>[] = [
  yourls,
  kutt,
  polr,
  shlink,
  bitly,
]

export const compatServices: FastifyPluginAsync<CompatDependencies> = async (app, deps) => {
  for (const service of SERVICES) await app.register(service, deps)
}
