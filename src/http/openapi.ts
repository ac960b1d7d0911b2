import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { Asset } from './assets/asset.ts'
import type { Compressor } from './compression/compressor.ts'
import { referencePage } from './reference/reference-page.ts'
import { withoutUnusedSchemas } from './unused-schemas.ts'

const DESCRIPTION = `Short links and the domains they live on.

Every request carries \`Authorization: Bearer <token>\`; make a token with \`npx terse token create\`.
Errors have the form \`{"message", "code", "errors"?}\`; \`code\` is stable. Creating requests may
carry an \`Idempotency-Key\`: the same request with the same key is done once, and answered alike for
24 hours.`

/** Collects the routes that are registered after it, for the description and its page. */
export async function describeApi(app: FastifyInstance, compressor: Compressor): Promise<void> {
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
  await app.register(referencePage, { compressor })

  let description: Asset | undefined
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    description ??= new Asset(compressor, {
      body: Buffer.from(JSON.stringify(app.swagger())),
      contentType: 'application/json; charset=utf-8',
      isImmutable: false,
    })
    return description.send(request, reply)
  })
}
