import { z } from 'zod'
import { pageOf } from './pagination.ts'
import { line, timestamp, uuid } from './primitives.ts'

const base64url = z.string().max(16_384)

/** The result of `navigator.credentials.get` as JSON (`PublicKeyCredential.toJSON`, WebAuthn level 3). */
export const passkeyAssertion = z
  .looseObject({
    id: base64url,
    rawId: base64url,
    type: z.literal('public-key'),
    response: z.looseObject({
      clientDataJSON: base64url,
      authenticatorData: base64url,
      signature: base64url,
      userHandle: base64url.optional(),
    }),
  })
  .meta({ id: 'PasskeyAssertion', description: 'The JSON form of the answer of the passkey.' })

/** The result of `navigator.credentials.create` as JSON. */
const passkeyRegistration = z
  .looseObject({
    id: base64url,
    rawId: base64url,
    type: z.literal('public-key'),
    response: z.looseObject({ clientDataJSON: base64url, attestationObject: base64url }),
  })
  .meta({ id: 'PasskeyRegistration', description: 'The JSON form of the new passkey.' })

/** What a browser needs for `navigator.credentials`; the JSON of WebAuthn, not of this API. */
export const passkeyOptionsSchema = z
  .object({
    public_key: z
      .record(z.string(), z.unknown())
      .describe('For `PublicKeyCredential.parse…OptionsFromJSON`. Valid for five minutes.'),
  })
  .meta({ id: 'PasskeyOptions' })

export const createPasskeyBody = z
  .strictObject({
    name: line(100).describe('How the person calls it, such as `Laptop`.'),
    registration: passkeyRegistration,
  })
  .meta({
    id: 'CreatePasskey',
    examples: [
      {
        name: 'Laptop',
        registration: {
          id: 'q0Xz1mWb7kT4',
          rawId: 'q0Xz1mWb7kT4',
          type: 'public-key',
          response: {
            clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
            attestationObject: 'o2NmbXRkbm9uZQ',
          },
        },
      },
    ],
  })

export const renamePasskeyBody = z
  .strictObject({ name: line(100).describe('The new name.') })
  .meta({ id: 'RenamePasskey', examples: [{ name: 'Phone' }] })

export const passkeySchema = z
  .object({
    id: uuid.describe('Identifier of the passkey.'),
    name: z.string().describe('Its name.'),
    created_at: timestamp.describe('When it was added.'),
    last_used_at: timestamp.nullable().describe('When it was last used; null when never.'),
  })
  .meta({ id: 'Passkey', description: 'A passkey of the person who is signed in.' })

export const passkeyList = pageOf(passkeySchema, 'PasskeyList')
export const passkeyDeleted = z
  .object({ message: z.literal('Passkey deleted') })
  .meta({ id: 'PasskeyDeleted' })

export type PasskeyResource = z.output<typeof passkeySchema>
export type PasskeyAssertionInput = z.output<typeof passkeyAssertion>
