import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { withoutUnusedSchemas } from './unused-schemas.ts'

const DESCRIPTION = `Short links and the domains they live on.

Every request carries \`Authorization: Bearer <token>\`; make a token with \`npx terse token create\`.
Errors have the form \`{"message", "code", "errors"?}\`; \`code\` is stable. Creating requests may
carry an \`Idempotency-Key\`: the same request with the same key is done once, and answered alike for
24 hours.`

/** The reference page needs nothing from elsewhere; its own scripts write style attributes. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

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
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    transformStaticCSP: () => PAGE_POLICY,
    theme: { title: 'Terse API' },
    // Without the top bar, which offers to load the description of any other API.
    uiConfig: { layout: 'BaseLayout', tryItOutEnabled: true },
  })
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
