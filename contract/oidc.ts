import { z } from 'zod'
import { oneTimeCodeInput } from './sign-in.ts'

const returnTo = z
  .string()
  .optional()
  .describe(
    'Where the browser goes afterwards: a path that begins with `/app/`. Anything else becomes `/app/`.',
  )

export const startOidcBody = z
  .strictObject({
    invitation: oneTimeCodeInput
      .optional()
      .describe('The code of an invitation to accept. Without one, the account must be linked.'),
    return_to: returnTo,
  })
  .meta({ id: 'StartOidc', examples: [{ return_to: '/app/links' }] })

export const linkIdentityBody = z
  .strictObject({ return_to: returnTo })
  .meta({ id: 'LinkIdentity', examples: [{ return_to: '/app/settings/profile' }] })

export const identityParams = z.object({
  id: z.string().toLowerCase().describe('The identifier, as `GET /me` lists it.'),
})
export const identityUnlinked = z
  .object({ message: z.literal('Account unlinked. All other sessions have ended.') })
  .meta({ id: 'IdentityUnlinked' })

export const oidcStartSchema = z
  .object({
    url: z.string().describe('The provider’s page to which the browser goes now.'),
  })
  .meta({ id: 'OidcStart', description: 'The begin of a way through the provider.' })
