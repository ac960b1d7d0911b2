import {
  domainSettingsBody,
  domainSettingsSchema,
  patchDomainSettingsBody,
} from '@terse/contract/domain-settings'
import { idParams, ifMatchHeaders, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import { tooLargeFor } from '../platform/http/api/responses.ts'
import { validateWith } from '../platform/http/api/validation.ts'
import { type DomainSettingsService, presentSettings, settingsVersion } from './domain-settings.ts'

const PATH = '/domains/:id/settings'
/** Two documents of 128 KiB each, as people indent them. */
const BODY_BYTES_MAX = 512 * 1024

type SettingsRouteDependencies = { readonly domainSettings: DomainSettingsService }

const common = { tags: ['Domains'], params: idParams }

const update = {
  bodyLimit: BODY_BYTES_MAX,
  schema: {
    ...common,
    headers: ifMatchHeaders,
    response: { 200: domainSettingsSchema, ...tooLargeFor(BODY_BYTES_MAX) },
  },
} as const

export const domainSettingsRoutes: FastifyPluginAsyncZod<SettingsRouteDependencies> = async (
  app,
  { domainSettings },
) => {
  app.setValidatorCompiler(validateWith((input) => domainSettings.faultsOf(input)))

  app.get(
    PATH,
    {
      schema: {
        ...common,
        operationId: 'domains.getSettings',
        summary: 'Show the settings of a domain',
        description:
          'Returns where the bare host leads, what search engines may do, the defaults of its links, and the documents that open them in apps.',
        headers: ifNoneMatchHeaders,
        response: { 200: domainSettingsSchema },
      },
    },
    async (request, reply) => {
      const found = await domainSettings.get(actorOf(request), request.params.id)
      return tagged(reply, presentSettings(found), settingsVersion(found))
    },
  )

  app.put(
    PATH,
    {
      ...update,
      schema: {
        ...update.schema,
        operationId: 'domains.updateSettings',
        summary: 'Replace the settings of a domain',
        description:
          'Sets all settings, for all links of the domain, from their next visit on. Those that are left out become those of a new domain.',
        body: domainSettingsBody,
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const how = { expected: expectedVersions(request), replaces: true }
      const found = await domainSettings.update(actorOf(request), params.id, body, how)
      return tagged(reply, presentSettings(found), settingsVersion(found))
    },
  )

  app.patch(
    PATH,
    {
      ...update,
      schema: {
        ...update.schema,
        operationId: 'domains.patchSettings',
        summary: 'Change some settings of a domain',
        description:
          'Changes the settings that are sent, for all links of the domain, from their next visit on. Null restores that of a new domain.',
        body: patchDomainSettingsBody,
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const how = { expected: expectedVersions(request), replaces: false }
      const found = await domainSettings.update(actorOf(request), params.id, body, how)
      return tagged(reply, presentSettings(found), settingsVersion(found))
    },
  )
}
