import { z } from 'zod'
import { pageOf } from './pagination.ts'
import { timestamp } from './primitives.ts'
import { personSchema } from './sign-in.ts'

/** For operators of the instance. */
export const accountSchema = personSchema
  .extend({
    is_disabled: z.boolean().describe('Whether the person cannot sign in.'),
    last_seen_at: timestamp.nullable().describe('Last use of a session; null where there is none.'),
  })
  .meta({ id: 'Account', description: 'A person, as operators of the instance see them.' })

export const accountList = pageOf(accountSchema, 'AccountList')
export const patchAccountBody = z
  .strictObject({
    is_disabled: z.boolean().optional().describe('Ends all sessions when true.'),
    is_operator: z.boolean().optional().describe('Whether the person operates the instance.'),
  })
  .meta({ id: 'PatchAccount', examples: [{ is_disabled: true }] })

export const accountDeleted = z
  .object({ message: z.literal('Person deleted') })
  .meta({ id: 'AccountDeleted' })

export type AccountResource = z.output<typeof accountSchema>
