import {
  type ConversionSettingsResource,
  conversionSettingsBody,
  conversionSettingsSchema,
} from '@terse/contract/conversions'
import { ifMatchHeaders, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import { type ConversionSettingsService, settingsVersion } from './settings.ts'
import type { ConversionSettings } from './store/conversion-settings-store.ts'

type Dependencies = { readonly conversionSettings: ConversionSettingsService }

function present(reply: FastifyReply, settings: ConversionSettings): ConversionSettingsResource {
  return tagged(reply, { ...settings }, settingsVersion(settings))
}

export const conversionSettingsRoutes: FastifyPluginAsyncZod<Dependencies> = async (
  app,
  { conversionSettings },
) => {
  app.get(
    '/conversions/settings',
    {
      schema: {
        tags: ['Conversions'],
        operationId: 'conversions.getSettings',
        summary: 'Show the settings for conversions',
        description:
          'Returns whether destinations of the workspace get tokens, in which parameter, and for how long a token is accepted.',
        headers: ifNoneMatchHeaders,
        response: { 200: conversionSettingsSchema },
      },
    },
    async (request, reply) => present(reply, await conversionSettings.get(actorOf(request))),
  )

  app.put(
    '/conversions/settings',
    {
      schema: {
        tags: ['Conversions'],
        operationId: 'conversions.updateSettings',
        summary: 'Change the settings for conversions',
        description:
          'Changes which destinations get tokens from now on. A domain and a link with a setting of their own keep it.',
        headers: ifMatchHeaders,
        body: conversionSettingsBody,
        response: { 200: conversionSettingsSchema },
      },
    },
    async (request, reply) => {
      const expected = expectedVersions(request)
      return present(
        reply,
        await conversionSettings.update(actorOf(request), request.body, expected),
      )
    },
  )
}
