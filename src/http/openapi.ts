import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { referencePage } from './reference-page.ts'
import { withoutUnusedSchemas } from './unused-schemas.ts'

const DESCRIPTION = `Short links and the domains they live on.

Every request carries \`Authorization: Bearer <token>\`; make a token with \`npx terse token create\`.
Errors have the form \`{"message", "code", "errors"?}\`; \`code\` is stable. Creating requests may
carry an \`Idempotency-Key\`: the same request with the same key is done once, and answered alike for
24 hours.`

/** Collects the routes that are registered after it, for the description and its page. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Terse API', version: '1', description: DESCRIPTION },
      servers: [{ url: '/' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => withoutUnusedSchemas(jsonSchemaTransformObject(document)),
  })
  await app.register(referencePage)
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
