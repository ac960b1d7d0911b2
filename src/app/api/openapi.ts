import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { isPermission, OPERATION_ACCESS } from '../../identity/permissions.ts'
import { answersOf } from '../../platform/http/api/responses.ts'
import { Asset } from '../../platform/http/assets/asset.ts'
import type { Compressor } from '../../platform/http/compression/compressor.ts'
import { referencePage } from '../../platform/http/reference/reference-page.ts'
import { completeDescription } from './complete-description.ts'
import { withoutUnusedSchemas } from './unused-schemas.ts'

const DESCRIPTION = `Short links and the domains they live on.

Programs send \`Authorization: Bearer <token>\` with every request; make a token with
\`npx terse token create --workspace <name>\`. Pages of the service send the cookie of a session and the header
\`Terse-Workspace\` with the identifier of a workspace of the person.
Errors have the form \`{"message", "code", "errors"?, "request_id"}\`; \`code\` is stable. Requests that create
something may carry an \`Idempotency-Key\`: the same request with the same key is done once, and
answered alike for 24 hours.

After 429 and 503, wait for as many seconds as \`Retry-After\` says and send the request again.`

const TAGS = [
  { name: 'Links', description: 'Short links, their QR codes and their clicks.' },
  { name: 'Domains', description: 'The domains of the workspace, their DNS, HTTPS and clicks.' },
  { name: 'Clicks', description: 'Clicks on all links of the workspace.' },
  { name: 'Sign-in', description: 'Set-up, sign-in and the sessions of people.' },
  { name: 'Me', description: 'The account of the person who is signed in.' },
  { name: 'Workspace', description: 'What the workspace uses, its quotas and its events.' },
]

/** Adds the failures of a route to what its module says of it. */
const describeRoute: typeof jsonSchemaTransform = (given) => {
  const { schema, route } = given
  const operation = route.config?.operation
  if (operation === undefined) return jsonSchemaTransform(given)
  const access = OPERATION_ACCESS[operation]
  const ofPeople = access === 'open' ? 'nothing' : 'session'
  const needs = isPermission(access) ? 'workspace' : ofPeople
  const response = answersOf(schema, { method: String(route.method), needs })
  return jsonSchemaTransform({ ...given, schema: { ...schema, response } })
}

/** Collects the routes that are registered after it, for the OpenAPI document and the reference page. */
export async function describeApi(app: FastifyInstance, compressor: Compressor): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Terse API',
        version: '1',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' } as { name: string },
      },
      tags: TAGS,
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'A token of the workspace.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-terse_session',
            description:
              'The session of a person; `terse_session` where the service is reached over plain HTTP. Operations in a workspace also need the header `Terse-Workspace: <id>`, and changes must come from pages of the service.',
          },
        },
      },
    },
    transform: describeRoute,
    transformObject: (document) =>
      completeDescription(withoutUnusedSchemas(jsonSchemaTransformObject(document))),
  })
  await app.register(referencePage, { compressor })

  let description: Asset | undefined
  // Generated once, synchronously: when the time limit could apply, the document is already complete.
  const options = { schema: { hide: true }, config: { mayTakeLong: true } } as const
  app.get('/api/v1/openapi.json', options, async (request, reply) => {
    description ??= new Asset(compressor, {
      body: Buffer.from(JSON.stringify(app.swagger())),
      contentType: 'application/json; charset=utf-8',
      isImmutable: false,
    })
    return description.send(request, reply)
  })
}
