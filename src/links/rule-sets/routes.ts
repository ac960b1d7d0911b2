import {
  idempotencyHeaders,
  idParams,
  ifMatchHeaders,
  ifNoneMatchHeaders,
} from '@terse/contract/primitives'
import {
  createRuleSetBody,
  getRuleSetQuery,
  type IncludingRuleSet,
  includingRuleSetSchema,
  listRuleSetsQuery,
  patchRuleSetBody,
  ruleSetBody,
  ruleSetDeleted,
  ruleSetPage,
  ruleSetSchema,
} from '@terse/contract/rule-sets'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../../identity/index.ts'
import { expectedVersions, tagged } from '../../platform/http/api/entity-tags.ts'
import type { Idempotency } from '../../platform/http/api/idempotency.ts'
import { type FastifyInstanceZod, REFUSED_AS_USED } from '../../platform/http/api/responses.ts'
import { validateWith } from '../../platform/http/api/validation.ts'
import { cursoredList, type WalkContext } from '../../platform/http/api/walk.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { presentManagedAt } from '../../storage/managed.ts'
import {
  type ListedRuleSet,
  type RuleSetInput,
  type RuleSets,
  ruleSetVersion,
} from './rule-sets.ts'

const tags = ['Rule sets']
const PATH = '/rule-sets'
const PATH_OF_ONE = '/rule-sets/:id'

const update = {
  schema: {
    tags,
    params: idParams,
    headers: ifMatchHeaders,
    response: { 200: ruleSetSchema },
  },
} as const

export type RuleSetRouteDependencies = WalkContext & {
  readonly ruleSets: RuleSets
  readonly idempotency: Idempotency
}

export const ruleSetRoutes: FastifyPluginAsyncZod<RuleSetRouteDependencies> = async (app, deps) => {
  app.setValidatorCompiler(validateWith((input) => deps.ruleSets.faultsOf(input)))
  registerReads(app, deps)
  registerWrites(app, deps)
}

function registerReads(app: FastifyInstanceZod, deps: RuleSetRouteDependencies): void {
  app.get(
    PATH,
    {
      schema: {
        tags,
        operationId: 'ruleSets.list',
        summary: 'List rule sets',
        description: 'Returns the rule sets of the workspace, by name.',
        headers: ifNoneMatchHeaders,
        querystring: listRuleSetsQuery,
        response: { 200: ruleSetPage },
      },
    },
    (request) => {
      const actor = actorOf(request)
      const { include = [], ...query } = request.query
      const list = deps.ruleSets.listOf(actor, { withUses: include.length > 0 })
      return cursoredList(request, deps, query, {
        ...{ owner: actor.workspaceId, present, list },
      })
    },
  )

  app.get(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'ruleSets.get',
        summary: 'Show rule set',
        description: 'Returns one rule set.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        querystring: getRuleSetQuery,
        response: { 200: includingRuleSetSchema },
      },
    },
    async (request, reply) => {
      const withUses = request.query.include !== undefined
      const { id } = request.params
      return answer(reply, await deps.ruleSets.get(actorOf(request), id, { withUses }))
    },
  )
}

function registerWrites(app: FastifyInstanceZod, deps: RuleSetRouteDependencies): void {
  const { ruleSets } = deps

  app.post(
    PATH,
    {
      schema: {
        tags,
        operationId: 'ruleSets.create',
        summary: 'Create rule set',
        description: 'Creates a rule set. A workspace may have 200.',
        headers: idempotencyHeaders,
        body: createRuleSetBody,
        response: { 201: ruleSetSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = deps.idempotency.read(request, reply, actor)
      const set = await ruleSets.create(actor, request.body, repeatable)
      reply.code(201)
      return answer(reply, set)
    },
  )

  app.put(
    PATH_OF_ONE,
    {
      schema: {
        ...update.schema,
        operationId: 'ruleSets.update',
        summary: 'Replace rule set',
        description:
          'Sets the name and the rules of a rule set, for all links and domains that use it, from their next visit on.',
        body: ruleSetBody,
      },
    },
    (request, reply) => updateBy(ruleSets, request, reply),
  )

  app.patch(
    PATH_OF_ONE,
    {
      schema: {
        ...update.schema,
        operationId: 'ruleSets.patch',
        summary: 'Change the name or the rules of a rule set',
        description: 'Changes the fields that are sent.',
        body: patchRuleSetBody,
      },
    },
    (request, reply) => updateBy(ruleSets, request, reply),
  )

  app.delete(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'ruleSets.delete',
        summary: 'Delete rule set',
        description:
          'Deletes a rule set that no link and no domain uses. For one that is used, `details` of the answer names the first links, their number and the domains.',
        params: idParams,
        headers: ifMatchHeaders,
        response: { 200: ruleSetDeleted, ...REFUSED_AS_USED },
      },
    },
    async (request) => {
      await ruleSets.delete(actorOf(request), request.params.id, expectedVersions(request))
      return { message: 'Rule set deleted' as const }
    },
  )
}

async function updateBy(
  ruleSets: RuleSets,
  request: FastifyRequest<{ Params: { id: string }; Body: RuleSetInput }>,
  reply: FastifyReply,
): Promise<IncludingRuleSet> {
  const { params, body } = request
  const expected = expectedVersions(request)
  return answer(reply, await ruleSets.update(actorOf(request), params.id, body, expected))
}

/** Returns a set with its entity tag. */
function answer(reply: FastifyReply, set: ListedRuleSet): IncludingRuleSet {
  return tagged(reply, present(set), ruleSetVersion(set))
}

function present({ rules, created_at, updated_at, ...set }: ListedRuleSet): IncludingRuleSet {
  return {
    ...set,
    rules: [...rules],
    managed_at: presentManagedAt(set),
    created_at: formatInstant(created_at),
    updated_at: formatInstant(updated_at),
  }
}
