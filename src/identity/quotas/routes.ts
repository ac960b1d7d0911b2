import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import { type UsageResource, usageSchema } from '@terse/contract/usage'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { FAILURES, NOT_MODIFIED } from '../../platform/http/api/responses.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import { actorOf } from '../access/authentication.ts'
import { QUOTA_NAMES } from './quota.ts'
import type { UsageReader } from './usage.ts'

export type UsageRouteDependencies = {
  readonly usage: UsageReader
  /** Counts requests a minute of each workspace. */
  readonly workspaceThrottle: Throttle
}

export const usageRoutes: FastifyPluginAsyncZod<UsageRouteDependencies> = async (app, deps) => {
  app.get(
    '/usage',
    {
      schema: {
        tags: ['Workspace'],
        operationId: 'workspace.getUsage',
        summary: 'Show usage and quotas',
        description: 'Returns what the workspace uses, with the limit of each quota.',
        headers: ifNoneMatchHeaders,
        response: { 200: usageSchema, ...NOT_MODIFIED, ...FAILURES },
      },
    },
    async (request): Promise<UsageResource> => {
      const actor = actorOf(request)
      const { used, limits } = await deps.usage(actor)
      const requests = deps.workspaceThrottle.used(actor.workspaceId)
      const counted = { ...used, requests_per_minute: requests }
      const entries = QUOTA_NAMES.map((name) => [
        name,
        { used: counted[name], limit: limits[name] || null },
      ])
      return Object.fromEntries(entries) as UsageResource
    },
  )
}
