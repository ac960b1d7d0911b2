import { z } from 'zod'
import { line, timestamp } from './primitives.ts'
import {
  emailInput,
  newPasswordInput,
  oneTimeCodeInput,
  personNameInput,
  personSchema,
} from './sign-in.ts'

/** The account of the person who is signed in. */
export const meSchema = personSchema
  .extend({
    has_password: z.boolean().describe('Whether a password is set.'),
    has_totp: z.boolean().describe('Whether an authenticator app is set up.'),
    passkeys: z.int().describe('Number of passkeys.'),
    recovery_codes_left: z.int().describe('Recovery codes that have not been used.'),
    identities: z
      .array(
        z.object({
          id: z.string().describe('Identifier, to unlink it.'),
          issuer: z.string().describe('The provider.'),
          linked_at: timestamp.describe('When it was linked.'),
        }),
      )
      .describe('Single sign-on accounts that lead to this person.'),
  })
  .meta({ id: 'Me', description: 'The account of the person who is signed in.' })

export const patchMeBody = z
  .strictObject({ name: personNameInput.optional() })
  .meta({ id: 'PatchMe', examples: [{ name: 'Ada King' }] })

export const setPasswordBody = z
  .strictObject({ password: newPasswordInput })
  .meta({ id: 'SetPassword', examples: [{ password: 'correct horse battery staple' }] })
export const passwordChanged = z
  .object({ message: z.literal('Password changed. All other sessions have ended.') })
  .meta({ id: 'PasswordChanged' })

export const changeEmailBody = z
  .strictObject({ email: emailInput })
  .meta({ id: 'ChangeEmail', examples: [{ email: 'ada@lovelace.example' }] })
export const emailChangeSchema = z
  .object({
    status: z
      .enum(['mailed', 'changed'])
      .describe(
        '`mailed`: a code went to the new address, and nothing has changed yet. `changed`: this instance sends no mail.',
      ),
  })
  .meta({ id: 'EmailChange' })
export const confirmEmailBody = z
  .strictObject({ code: oneTimeCodeInput })
  .meta({ id: 'ConfirmEmail', examples: [{ code: 'Zk3pQ9wVx2sT7bLr' }] })

/** Shown once, until it is confirmed by a code. */
export const totpSetupSchema = z
  .object({
    secret: z.string().describe('The secret in base32, to type in.'),
    url: z.string().describe('The `otpauth` URL, to show as a QR code.'),
  })
  .meta({ id: 'TotpSetup' })
export const confirmTotpBody = z
  .strictObject({ code: line(16).describe('The six digits that the app shows.') })
  .meta({ id: 'ConfirmTotp', examples: [{ code: '492039' }] })

export const totpConfirmed = z
  .object({ message: z.literal('Authenticator app set up. All other sessions have ended.') })
  .meta({ id: 'TotpConfirmed' })

export const recoveryCodesSchema = z
  .object({
    codes: z.array(z.string()).describe('Shown only now. Each works once in place of a code.'),
  })
  .meta({ id: 'RecoveryCodes' })
export const totpDeleted = z
  .object({ message: z.literal('Authenticator app removed') })
  .meta({ id: 'TotpDeleted' })

export type MeResource = z.output<typeof meSchema>
export type EmailChangeResource = z.output<typeof emailChangeSchema>
export type TotpSetupResource = z.output<typeof totpSetupSchema>
