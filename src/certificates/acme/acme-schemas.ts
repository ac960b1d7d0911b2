import { z } from 'zod'
import { problemSchema } from './problem.ts'

/** The resources of RFC 8555, section 7.1, with the fields that are used here. */
export const directorySchema = z.object({
  newNonce: z.url(),
  newAccount: z.url(),
  newOrder: z.url(),
  renewalInfo: z.url().optional().catch(undefined),
  meta: z
    .object({
      caaIdentities: z.array(z.string()).optional().catch(undefined),
      externalAccountRequired: z.boolean().optional().catch(undefined),
      profiles: z.record(z.string(), z.unknown()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
})

export const orderSchema = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.tuple([z.url()]),
  finalize: z.url(),
  certificate: z.url().optional(),
  error: problemSchema.optional(),
})

export const challengeSchema = z.object({
  type: z.string(),
  url: z.url(),
  token: z.string().optional(),
  status: z.enum(['pending', 'processing', 'valid', 'invalid']).optional(),
  error: problemSchema.optional(),
})

export const authorizationSchema = z.object({
  status: z.string(),
  challenges: z.array(challengeSchema),
})

/** RFC 9773, section 4.2. */
export const renewalInfoSchema = z.object({
  suggestedWindow: z.object({
    start: z.iso.datetime({ offset: true }),
    end: z.iso.datetime({ offset: true }),
  }),
})
