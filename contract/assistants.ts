import { z } from 'zod'
import { pageOf } from './pagination.ts'
import { integer, timestamp, uuid } from './primitives.ts'

/** What a person may let an assistant do, from the least to the most. Scopes of OAuth, not of tokens. */
export const ASSISTANT_SCOPES = [
  'links:read',
  'clicks:read',
  'links:write',
  'links:delete',
] as const

const TEXT_LENGTH_MAX = 2_000
const STATE_LENGTH_MAX = 4_000
const DAYS_MAX = 365

const scope = z.enum(ASSISTANT_SCOPES)
const text = z.string().max(TEXT_LENGTH_MAX)

/** What the assistant has sent with the browser, as OAuth 2.1 names it. */
const authorizationRequest = z
  .strictObject({
    client_id: text.describe(
      'The https address of a document that describes the program, the identifier with which it was registered, or `browser-extension`.',
    ),
    redirect_uri: text.describe('Where the browser goes with the code.'),
    response_type: text.optional().describe('`code`.'),
    code_challenge: text.optional().describe('SHA-256 of the verifier, in base64url (RFC 7636).'),
    code_challenge_method: text.optional().describe('`S256`.'),
    scope: text.optional().describe('What it asks for, separated by spaces.'),
    state: z.string().max(STATE_LENGTH_MAX).optional().describe('Returned as it is.'),
    resource: text.optional().describe('The address of the MCP endpoint (RFC 8707).'),
  })
  .meta({ id: 'AuthorizationRequest', description: 'What an assistant asks a person for.' })

const EXAMPLE_REQUEST = {
  client_id: 'https://assistant.example/client.json',
  redirect_uri: 'http://127.0.0.1:33418/callback',
  response_type: 'code',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  scope: 'links:read links:write',
  state: 'af0ifjsldkj',
}

export const previewAssistantBody = authorizationRequest.meta({
  id: 'PreviewAssistant',
  examples: [EXAMPLE_REQUEST],
})

export const assistantPreview = z
  .object({
    client: z
      .object({
        id: z.string().describe('As in the request.'),
        name: z.string().describe('What the program calls itself. It is not checked.'),
      })
      .describe('The program.'),
    callback: z
      .object({
        kind: z
          .enum(['local', 'app', 'site', 'extension'])
          .describe(
            '`local`: a program on the computer of the browser; `app`: an installed app; `extension`: the browser extension of this service.',
          ),
        place: z.string().describe('The host, with its port; the scheme of an app.'),
      })
      .describe('What gets the answer.'),
    scopes: z.array(scope).describe('What it asks for, of what can be given.'),
    refused: z
      .string()
      .nullable()
      .describe('Where to send the browser when the request cannot be granted; else null.'),
    cancel: z.string().describe('Where to send the browser when the person does not allow it.'),
  })
  .meta({ id: 'AssistantPreview', description: 'What a person is asked to allow.' })

export const createAssistantBody = z
  .strictObject({
    request: authorizationRequest,
    workspace_id: uuid.describe('The workspace in which it may work.'),
    scopes: z.array(scope).min(1).describe('What it may do, as far as you may.'),
    days: integer(DAYS_MAX, 1).optional().describe('For how many days; 90 when left out.'),
  })
  .meta({
    id: 'CreateAssistant',
    examples: [
      {
        request: EXAMPLE_REQUEST,
        workspace_id: '0193a1b2-5c3d-7e4f-8a9b-0c1d2e3f4a5b',
        scopes: ['links:read'],
        days: 30,
      },
    ],
  })

const assistantSchema = z
  .object({
    id: uuid.describe('Identifier of what was allowed.'),
    client: z
      .object({ id: z.string(), name: z.string() })
      .describe('The program, and what it calls itself.'),
    person: z.object({ id: uuid, name: z.string() }).describe('In whose name it works.'),
    scopes: z.array(scope).describe('What it may do, as far as the person may.'),
    created_at: timestamp.describe('When it was allowed.'),
    expires_at: timestamp.describe('Until when.'),
    last_used_at: timestamp.nullable().describe('Last use, to the minute; null when never used.'),
  })
  .meta({ id: 'Assistant', description: 'A program that a person lets work in their name.' })

export const assistantList = pageOf(assistantSchema, 'AssistantList')
export const createdAssistant = assistantSchema
  .extend({
    redirect_to: z.string().describe('Where to send the browser, with the code for the program.'),
  })
  .meta({ id: 'CreatedAssistant' })
export const assistantWithdrawn = z
  .object({ message: z.literal('Assistant withdrawn') })
  .meta({ id: 'AssistantWithdrawn' })

const enabled = z
  .boolean()
  .describe('Whether programs may work with the workspace over MCP, with tokens too.')

export const assistantSettingsSchema = z
  .object({
    enabled,
    address: z.string().describe('The address that an assistant is given.'),
  })
  .meta({ id: 'AssistantSettings', description: 'Whether and where assistants connect.' })

export const assistantSettingsBody = z
  .strictObject({ enabled })
  .meta({ id: 'WriteAssistantSettings', examples: [{ enabled: false }] })

export type AssistantScope = z.output<typeof scope>
export type AuthorizationRequest = z.output<typeof authorizationRequest>
export type AssistantPreview = z.output<typeof assistantPreview>
export type AssistantResource = z.output<typeof assistantSchema>
