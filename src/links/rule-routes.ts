import { acceptChangesQuery } from '@terse/contract/explain'
import {
  type LinkOptionsResource,
  linkOptionsBody,
  linkOptionsSchema,
} from '@terse/contract/link-options'
import { idParams, ifMatchHeaders, ifNoneMatchHeaders } from '@terse/contract/primitives'
import { type LinkRulesResource, rulesBody, rulesSchema } from '@terse/contract/rules'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import { validateWith } from '../platform/http/api/validation.ts'
import { acceptanceOf, EXAMPLES_CHANGED } from './accept-changes.ts'
import { type Link, linkVersion, presentOptions } from './link.ts'
import type { Links } from './links.ts'

const tags = ['Links']

export type RuleRouteDependencies = { readonly links: Links }

/** Returns a link's rules with their entity tag, whose version is the link's. */
function presentRules(reply: FastifyReply, link: Link): LinkRulesResource {
  return tagged(reply, { rules: [...(link.rules ?? [])] }, linkVersion(link))
}

function presentLinkOptions(reply: FastifyReply, link: Link): LinkOptionsResource {
  return tagged(reply, presentOptions(link), linkVersion(link))
}

/** What a link has beside its fields: rules, and options. */
export const ruleRoutes: FastifyPluginAsyncZod<RuleRouteDependencies> = async (app, { links }) => {
  app.setValidatorCompiler(validateWith((input) => links.faultsOf(input)))

  app.get(
    '/links/:id/rules',
    {
      schema: {
        tags,
        operationId: 'links.getRules',
        summary: 'Show the rules of a link',
        description:
          'Returns the rules that decide where a visitor of the link is sent. Without rules, or where none matches, `ios`, `android` and `url` of the link decide.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: rulesSchema },
      },
    },
    async (request, reply) =>
      presentRules(reply, await links.get(actorOf(request), request.params.id)),
  )

  app.put(
    '/links/:id/rules',
    {
      schema: {
        tags,
        operationId: 'links.setRules',
        summary: 'Replace the rules of a link',
        description:
          'Replaces all rules of the link; an empty list removes them. The first rule whose conditions all hold decides.',
        params: idParams,
        headers: ifMatchHeaders,
        querystring: acceptChangesQuery,
        body: rulesBody,
        response: { 200: rulesSchema, ...EXAMPLES_CHANGED },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const input = { rules: body.rules }
      const expected = expectedVersions(request)
      const options = acceptanceOf(request.query)
      const link = await links.update(actorOf(request), params.id, input, expected, options)
      return presentRules(reply, link)
    },
  )

  app.get(
    '/links/:id/options',
    {
      schema: {
        tags,
        operationId: 'links.getOptions',
        summary: 'Show the options of a link',
        description: 'Returns what a link has beside its fields and rules.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: linkOptionsSchema },
      },
    },
    async (request, reply) =>
      presentLinkOptions(reply, await links.get(actorOf(request), request.params.id)),
  )

  app.patch(
    '/links/:id/options',
    {
      schema: {
        tags,
        operationId: 'links.setOptions',
        summary: 'Change options of a link',
        description:
          'Changes the options that are sent; null restores what a new link has. Creates and updates of a link take the same fields.',
        params: idParams,
        headers: ifMatchHeaders,
        querystring: acceptChangesQuery,
        body: linkOptionsBody,
        response: { 200: linkOptionsSchema, ...EXAMPLES_CHANGED },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const expected = expectedVersions(request)
      const options = acceptanceOf(request.query)
      const link = await links.update(actorOf(request), params.id, body, expected, options)
      return presentLinkOptions(reply, link)
    },
  )
}
