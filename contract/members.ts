import { z } from 'zod'
import { pageOf } from './pagination.ts'
import { roleSchema, timestamp, uuid } from './primitives.ts'
import { emailInput, newPasswordInput, oneTimeCodeInput, personNameInput } from './sign-in.ts'

export const memberSchema = z
  .object({
    id: uuid.describe('Identifier of the person.'),
    email: z.string().describe('E-mail address.'),
    name: z.string().describe('Name.'),
    role: roleSchema,
    is_from_groups: z
      .boolean()
      .describe(
        'Whether groups of single sign-on gave the role, and take it away; false for one given by hand.',
      ),
    is_email_proved: z
      .boolean()
      .describe('Whether the person has proved that they read mail to the address.'),
    is_disabled: z.boolean().describe('Whether an operator has disabled the person.'),
    has_second_factor: z.boolean().describe('Whether a passkey or an authenticator app is set up.'),
    joined_at: timestamp.describe('When the person became a member.'),
    last_seen_at: timestamp.nullable().describe('Last use of a session; null where there is none.'),
  })
  .meta({ id: 'Member', description: 'A person in the workspace.' })

export const memberList = pageOf(memberSchema, 'MemberList')
export const patchMemberBody = z
  .strictObject({ role: roleSchema })
  .meta({ id: 'PatchMember', examples: [{ role: 'viewer' }] })
export const memberRemoved = z
  .object({ message: z.literal('Member removed') })
  .meta({ id: 'MemberRemoved' })

const invitationSchema = z
  .object({
    id: uuid.describe('Identifier of the invitation.'),
    email: z.string().describe('The address that it is bound to.'),
    role: roleSchema,
    invited_by: z.string().nullable().describe('Name of the person or token that sent it.'),
    created_at: timestamp.describe('When it was made.'),
    expires_at: timestamp.describe('Until when it can be accepted.'),
  })
  .meta({ id: 'Invitation', description: 'An open invitation to the workspace.' })

export const invitationList = pageOf(invitationSchema, 'InvitationList')

export const createInvitationBody = z
  .strictObject({ email: emailInput, role: roleSchema })
  .meta({ id: 'CreateInvitation', examples: [{ email: 'grace@example.com', role: 'member' }] })

export const createdInvitationSchema = invitationSchema
  .extend({
    url: z.string().describe('The link to send to the person, shown only now. It works once.'),
    mail_sent: z.boolean().describe('Whether it was also handed to the mail server.'),
  })
  .meta({ id: 'CreatedInvitation' })

export const invitationDeleted = z
  .object({ message: z.literal('Invitation withdrawn') })
  .meta({ id: 'InvitationDeleted' })

/** Read an invitation before it is accepted, without using it up. */
export const lookUpInvitationBody = z
  .strictObject({ code: oneTimeCodeInput })
  .meta({ id: 'LookUpInvitation', examples: [{ code: 'Zk3pQ9wVx2sT7bLr' }] })
export const invitationDetailsSchema = z
  .object({
    email: z.string().describe('The address that it is bound to.'),
    workspace_name: z.string().describe('The workspace that it leads to.'),
    workspace_title: z.string().describe('Its name in any letters.'),
    role: roleSchema,
    account_exists: z
      .boolean()
      .nullable()
      .describe(
        'Whether a person has this address, who must sign in to accept it. Null for the code that the API has returned: who invites does not learn it.',
      ),
    can_create_account: z
      .boolean()
      .describe(
        'Whether this code creates an account for the address. Where the instance sends mail, only the mailed one does.',
      ),
    expires_at: timestamp,
  })
  .meta({ id: 'InvitationDetails' })

/** `name` and `password` are required of a new person; `password` of one who is signed in with an unproved address. */
export const acceptInvitationBody = z
  .strictObject({
    code: oneTimeCodeInput,
    name: personNameInput.optional(),
    password: newPasswordInput.optional(),
  })
  .meta({
    id: 'AcceptInvitation',
    examples: [
      { code: 'Zk3pQ9wVx2sT7bLr', name: 'Grace Hopper', password: 'correct horse battery staple' },
    ],
    description:
      'A new person sends `name` and `password`. A person who is signed in sends neither, or a new `password` where `is_email_proved` is false.',
  })

export type MemberResource = z.output<typeof memberSchema>
export type InvitationResource = z.output<typeof invitationSchema>
export type InvitationDetailsResource = z.output<typeof invitationDetailsSchema>
export type CreatedInvitationResource = z.output<typeof createdInvitationSchema>
