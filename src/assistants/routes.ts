import {
  type AssistantResource,
  assistantList,
  assistantPreview,
  assistantSettingsBody,
  assistantSettingsSchema,
  assistantWithdrawn,
  createAssistantBody,
  createdAssistant,
  previewAssistantBody,
} from '@terse/contract/assistants'
import { pageQuery } from '@terse/contract/pagination'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf, signedInOf } from '../identity/index.ts'
import type { FastifyInstanceZod } from '../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../platform/http/api/walk.ts'
import { formatInstant } from '../platform/time/clock.ts'
import type { NamedAssistant } from './assistant-store.ts'
import type { Assistants } from './assistants.ts'

export type AssistantRouteDependencies = WalkContext & { readonly assistants: Assistants }

const tags = ['Assistants']
const PATH = '/assistants'

export const assistantRoutes: FastifyPluginAsyncZod<AssistantRouteDependencies> = async (
  app,
  deps,
) => {
  registerConsent(app, deps)
  registerSettings(app, deps)
  const { assistants } = deps
  app.get(
    PATH,
    {
      schema: {
        tags,
        operationId: 'assistants.list',
        summary: 'List assistants',
        description:
          'Returns the programs that you let work in your name in the workspace; those of all members for callers who manage tokens.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: assistantList },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      return wholeList(request, deps, request.query, {
        owner: actor.workspaceId,
        items: await assistants.list(actor),
        orderOf: ({ assistant }) => [assistant.created_at, assistant.id],
        present,
      })
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      schema: {
        tags,
        operationId: 'assistants.delete',
        summary: 'Withdraw an assistant',
        description:
          'Its next request is refused. Callers who manage tokens may withdraw those of all members.',
        params: idParams,
        response: { 200: assistantWithdrawn },
      },
    },
    async (request) => {
      await assistants.withdraw(actorOf(request), request.params.id)
      return { message: 'Assistant withdrawn' as const }
    },
  )
}

/** What the consent page of the dashboard sends. */
function registerConsent(
  app: FastifyInstanceZod,
  { assistants }: AssistantRouteDependencies,
): void {
  app.post(
    `${PATH}/preview`,
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'assistants.preview',
        summary: 'Show what an assistant asks for',
        description:
          'For the page on which a person decides. Reads the document at `client_id`. Fails where the browser must not be sent back: the program is not known, or has not named this `redirect_uri`.',
        body: previewAssistantBody,
        response: { 200: assistantPreview },
      },
    },
    (request) => assistants.preview(signedInOf(request).person.id, request.body),
  )

  app.post(
    PATH,
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'assistants.create',
        summary: 'Allow an assistant',
        description:
          'Lets a program work in your name in one workspace, never with more than you may do yourself. Send the browser to `redirect_to`. Needs a recent authentication.',
        body: createAssistantBody,
        response: { 201: createdAssistant },
      },
    },
    async (request, reply) => {
      const { workspace_id, ...input } = request.body
      const actor = actorOf(request)
      const workspaceId = workspace_id.toLowerCase()
      const created = await assistants.allow(actor, { ...input, workspaceId })
      return reply.code(201).send({ ...present(created), redirect_to: created.redirectTo })
    },
  )
}

function registerSettings(
  app: FastifyInstanceZod,
  { assistants }: AssistantRouteDependencies,
): void {
  app.get(
    `${PATH}/settings`,
    {
      schema: {
        tags,
        operationId: 'assistants.getSettings',
        summary: 'Show the settings for assistants',
        description: 'Returns whether programs may work with the workspace over MCP, and where.',
        headers: ifNoneMatchHeaders,
        response: { 200: assistantSettingsSchema },
      },
    },
    (request) => assistants.settings(actorOf(request)),
  )

  app.put(
    `${PATH}/settings`,
    {
      schema: {
        tags,
        operationId: 'assistants.updateSettings',
        summary: 'Change the settings for assistants',
        description:
          'Switches MCP off or on for the workspace. What people have allowed stays, and works again once it is on.',
        body: assistantSettingsBody,
        response: { 200: assistantSettingsSchema },
      },
    },
    (request) => assistants.enable(actorOf(request), request.body.enabled),
  )
}

function present({ assistant, personName }: NamedAssistant): AssistantResource {
  const { id, client_id, client_name, person_id, scopes, last_used_at } = assistant
  return {
    id,
    client: { id: client_id, name: client_name },
    person: { id: person_id, name: personName },
    scopes: [...scopes],
    created_at: formatInstant(assistant.created_at),
    expires_at: formatInstant(assistant.expires_at),
    last_used_at: last_used_at === null ? null : formatInstant(last_used_at),
  }
}
