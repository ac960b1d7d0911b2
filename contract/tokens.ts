import { z } from 'zod'
import { COMPAT_SCOPES } from './compat-services.ts'
import { pageOf } from './pagination.ts'
import { line, timestamp, uuid } from './primitives.ts'

const SCOPES = [
  'links:read',
  'links:write',
  'domains:read',
  'domains:write',
  'clicks:read',
  'conversions:read',
  'conversions:write',
  'webhooks:read',
  'webhooks:write',
  'workspace:admin',
  ...COMPAT_SCOPES,
] as const

const scope = z.enum(SCOPES)

const tokenSchema = z
  .object({
    id: uuid.describe('Identifier of the token.'),
    name: z.string().describe('Its name.'),
    scopes: z.array(scope).describe('What it may do.'),
    created_by: z
      .object({ id: uuid, name: z.string() })
      .nullable()
      .describe('The person who created it; null for a token of the command line or of a token.'),
    created_at: timestamp.describe('When it was created.'),
    expires_at: timestamp.nullable().describe('When it expires; null when it does not.'),
    last_used_at: timestamp.nullable().describe('Last use, to the minute; null when never used.'),
  })
  .meta({ id: 'Token', description: 'A token of the workspace, without its secret.' })

export const tokenList = pageOf(tokenSchema, 'TokenList')
export const createTokenBody = z
  .strictObject({
    name: line(100).describe('What it is for.'),
    scopes: z
      .array(scope)
      .min(1)
      .describe(
        'What it may do. A scope of `compat:` stands alone: the token is for clients of that service, whose API it switches on.',
      ),
    expires_at: z
      .string()
      .nullable()
      .optional()
      .meta({ format: 'date-time' })
      .describe(
        'An ISO 8601 instant with a zone; null or left out for a token that does not expire.',
      ),
  })
  .meta({ id: 'CreateToken', examples: [{ name: 'CI', scopes: ['links:write'] }] })
export const createdTokenSchema = tokenSchema
  .extend({ secret: z.string().describe('The token itself, shown only now.') })
  .meta({ id: 'CreatedToken' })
export const tokenRevoked = z
  .object({ message: z.literal('Token revoked') })
  .meta({ id: 'TokenRevoked' })

export type TokenResource = z.output<typeof tokenSchema>
export type Scope = z.output<typeof scope>
export type CreatedTokenResource = z.output<typeof createdTokenSchema>
