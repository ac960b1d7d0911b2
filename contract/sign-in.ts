import { z } from 'zod'
import { asMessage } from './faults.ts'
import { pageOf } from './pagination.ts'
import { passkeyAssertion } from './passkeys.ts'
import { line, roleSchema, timestamp, uuid } from './primitives.ts'

const PASSWORD_LENGTH_MAX = 1024
/** The longest secret of a one-time link: 32 random bytes in base64url. */
const CODE_LENGTH_MAX = 64

export const emailInput = line(254).describe('An e-mail address.')
export const personNameInput = line(100).describe('How the person is called.')
/** Control characters are allowed: a password is not shown. */
const passwordInput = z
  .string()
  .min(1)
  .max(PASSWORD_LENGTH_MAX)
  .refine((text) => text.isWellFormed(), asMessage({ code: 'malformed_text' }))
export const newPasswordInput = passwordInput.describe(
  'At least 15 characters, or 10 where a second factor is set up; commonly used passwords are refused.',
)
export const oneTimeCodeInput = line(CODE_LENGTH_MAX).describe('The code of the link.')

/** What a page needs to know before anybody has signed in. */
export const signInOptionsSchema = z
  .object({
    setup_required: z.boolean().describe('Whether the first person has yet to be set up.'),
    oidc: z
      .object({ name: z.string().describe('How the provider is called.') })
      .nullable()
      .describe('Single sign-on; null where none is configured.'),
    mail: z.boolean().describe('Whether a forgotten password can be reset by e-mail.'),
    base_url: z.string().describe('Address of the service, at which people sign in.'),
  })
  .meta({ id: 'SignInOptions', description: 'How people sign in to this instance.' })

export const setupBody = z
  .strictObject({
    code: oneTimeCodeInput,
    email: emailInput,
    name: personNameInput,
    password: newPasswordInput,
  })
  .meta({
    id: 'SetUp',
    examples: [
      {
        code: 'Zk3pQ9wVx2sT7bLr',
        email: 'ada@example.com',
        name: 'Ada Lovelace',
        password: 'correct horse battery staple',
      },
    ],
  })

const secondFactorCode = line(32).describe(
  'The six digits of an authenticator app, or a recovery code. Required after `second_factor_required`, unless `passkey` is sent.',
)

/** Either e-mail and password, with a second factor where the person has one, or a passkey alone. */
export const signInBody = z
  .strictObject({
    email: emailInput.optional(),
    password: passwordInput.optional(),
    code: secondFactorCode.optional(),
    passkey: passkeyAssertion.optional(),
  })
  .meta({
    id: 'SignIn',
    description:
      'E-mail and password, with `code` or `passkey` where the person has a second factor; or `passkey` alone.',
    examples: [{ email: 'ada@example.com', password: 'correct horse battery staple' }],
  })

/** For a session that has lasted too long for the operation: as to sign in, without the e-mail. */
export const authenticateBody = signInBody.omit({ email: true }).meta({
  id: 'Authenticate',
  description: '`password`, with `code` where needed; or `passkey`.',
  examples: [{ password: 'correct horse battery staple' }],
})

export const personSchema = z
  .object({
    id: uuid.describe('Identifier of the person.'),
    email: z.string().describe('E-mail address.'),
    name: z.string().describe('Name.'),
    is_operator: z.boolean().describe('Whether the person operates the instance.'),
    is_email_proved: z
      .boolean()
      .describe(
        'Whether the person has shown that the address is theirs: with a code that went to it by mail, or by the word of the provider of single sign-on.',
      ),
    created_at: timestamp.describe('When the person was added.'),
  })
  .meta({ id: 'Person', description: 'A human with an account.' })

const membershipSchema = z.object({
  workspace_id: uuid,
  workspace_name: z.string(),
  workspace_title: z.string(),
  role: roleSchema,
})

export const sessionSchema = z
  .object({
    id: uuid.describe('Identifier of the session.'),
    person: personSchema,
    memberships: z.array(membershipSchema).describe('The workspaces of the person, by name.'),
    service_host: z
      .string()
      .describe('The host of the service itself, on which every workspace can have links.'),
    authenticated_at: timestamp.describe(
      'When the person last gave a password or passkey. Some operations require the last ten minutes.',
    ),
    expires_at: timestamp.describe('When it ends, unless it is used in time and not too old.'),
  })
  .meta({ id: 'Session', description: 'The session of the person who is signed in.' })

const sessionEntrySchema = z
  .object({
    id: uuid.describe('Identifier of the session.'),
    device: z.string().describe('Browser and system, such as `Firefox on Linux`.'),
    is_current: z.boolean().describe('Whether it is the session of this request.'),
    created_at: timestamp.describe('When the person signed in.'),
    last_seen_at: timestamp.describe('When it was last used, to the minute.'),
  })
  .meta({ id: 'SessionEntry', description: 'A session of the person who is signed in.' })

export const sessionList = pageOf(sessionEntrySchema, 'SessionList')

export const signedOut = z.object({ message: z.literal('Signed out') }).meta({ id: 'SignedOut' })
export const sessionEnded = z
  .object({ message: z.literal('Session ended') })
  .meta({ id: 'SessionEnded' })

/** A request for a link by e-mail. */
export const requestPasswordResetBody = z
  .strictObject({ email: emailInput })
  .meta({ id: 'RequestPasswordReset', examples: [{ email: 'ada@example.com' }] })
export const passwordResetRequested = z
  .object({ message: z.literal('If an account has this address, an e-mail is on its way.') })
  .meta({ id: 'PasswordResetRequested' })
/** Read what a link for a new password leads to, without using it up. */
export const lookUpPasswordResetBody = z
  .strictObject({ code: oneTimeCodeInput })
  .meta({ id: 'LookUpPasswordReset', examples: [{ code: 'Zk3pQ9wVx2sT7bLr' }] })
export const passwordResetDetailsSchema = z
  .object({
    passkeys: z.array(
      z.object({
        id: uuid.describe('For `keep_passkeys`.'),
        name: z.string().describe('What the person called it.'),
        created_at: timestamp.describe('When it was added.'),
      }),
    ),
    identities: z.array(
      z.object({
        id: z.string().describe('For `keep_identities`.'),
        issuer: z.string().describe('The provider.'),
        linked_at: timestamp.describe('When it was linked.'),
      }),
    ),
    may_keep: z
      .boolean()
      .describe(
        'False where the link proves the address for the first time: everything that was set up before is removed then, with the authenticator app and recovery codes.',
      ),
  })
  .meta({
    id: 'PasswordResetDetails',
    description: 'Ways to sign in as the person, besides the password.',
  })

/** More than a person has. */
const KEPT_MAX = 100
export const resetPasswordBody = z
  .strictObject({
    code: oneTimeCodeInput,
    password: newPasswordInput,
    keep_passkeys: z
      .array(uuid)
      .max(KEPT_MAX)
      .optional()
      .describe('Identifiers of the passkeys that are the person’s own. The others are removed.'),
    keep_identities: z
      .array(line(64))
      .max(KEPT_MAX)
      .optional()
      .describe(
        'Identifiers of the single sign-on accounts that are the person’s own. The others are unlinked.',
      ),
  })
  .meta({
    id: 'ResetPassword',
    examples: [{ code: 'Zk3pQ9wVx2sT7bLr', password: 'correct horse battery staple' }],
  })
export const passwordReset = z
  .object({ message: z.literal('Password changed. Sign in with the new one.') })
  .meta({ id: 'PasswordWasReset' })

/** A link that is shown once. */
export const oneTimeLinkSchema = z
  .object({
    url: z.string().describe('The link, shown only now. It works once.'),
    expires_at: timestamp.describe('Until when it works.'),
  })
  .meta({ id: 'OneTimeLink' })

export type PasswordResetDetailsResource = z.output<typeof passwordResetDetailsSchema>
export type SessionResource = z.output<typeof sessionSchema>
export type SessionEntryResource = z.output<typeof sessionEntrySchema>
export type PersonResource = z.output<typeof personSchema>
export type OneTimeLinkResource = z.output<typeof oneTimeLinkSchema>
export type SignInOptionsResource = z.output<typeof signInOptionsSchema>
export type MembershipResource = z.output<typeof membershipSchema>
