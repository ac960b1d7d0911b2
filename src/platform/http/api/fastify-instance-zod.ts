import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'

/** The instance that a plugin receives: a route added to it takes its types from its Zod schemas. */
export type FastifyInstanceZod = Parameters<FastifyPluginAsyncZod>[0]
