import type { FastifyRequest } from 'fastify'
import { systemActor } from '../../identity/actor.ts'
import { DEFAULT_MAIL_LANGUAGE, invitationMail, MAIL_LANGUAGES } from '../../identity/mails.ts'
import type { Invitations } from '../../identity/members/invitations.ts'
import { type Invitation, invitationAddress } from '../../identity/one-time-links.ts'
import { EMAIL_CHANGE_LIMITS, EmailChanges } from '../../identity/people/addresses.ts'
import {
  PasswordResets,
  RESET_MAIL_LIMITS,
  RESET_REQUEST_LIMITS,
  type ResetLinks,
} from '../../identity/people/password-resets.ts'
import type { PeoplePasswords } from '../../identity/people/passwords.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { type EventFields, INSTANCE } from '../../platform/events/event-writer.ts'
import { preferredLanguage } from '../../platform/http/preferred-language.ts'
import type { DropReason } from '../../platform/mail/mailer.ts'
import { SmtpMailer } from '../../platform/mail/smtp-mailer.ts'
import { type AppContext, logUnexpected } from './app-context.ts'

const mailService = systemActor('mail')

/** Sends mail to people, in the language of the request that causes it. */
export function openMail(
  { config, instance, throttles, log }: AppContext,
  services: { passwords: PeoplePasswords; resetLinks: ResetLinks; invitations: Invitations },
) {
  const { baseUrl, mail } = config
  const { store, clock } = instance
  const { passwords, resetLinks, invitations } = services
  const mailer = mail && new SmtpMailer({ url: mail.smtpUrl, from: mail.from, log })

  async function mailInvitation(
    code: string,
    invitedBy: string,
    { headers }: FastifyRequest,
  ): Promise<void> {
    const { invitation, workspaceTitle: workspace } = await invitations.lookUp(code)
    const language = preferredLanguage(
      headers['accept-language'],
      MAIL_LANGUAGES,
      DEFAULT_MAIL_LANGUAGE,
    )
    const host = new URL(baseUrl).hostname
    const url = invitationAddress(baseUrl, code)
    const content = { to: invitation.email, host, workspace, invitedBy, url }
    mailer?.send(invitationMail(content, language), {
      kind: 'invitation',
      owner: invitation.workspace_id,
      onDropped: (reason) => noteDroppedInvitation(invitation, reason),
    })
  }

  const noteDroppedInvitation = ({ workspace_id, id, email }: Invitation, reason: DropReason) =>
    noteDropped(workspace_id, id, { kind: 'invitation', email, reason })

  const noteDropped = (workspaceId: string, subjectId: string, after: EventFields) =>
    store
      .write(({ events }) => {
        const event = { type: 'mail.dropped', subjectId, before: null, after } as const
        return events.append(mailService(workspaceId), event, clock.nowMicros())
      })
      .catch(logUnexpected(log, 'event of a dropped mail'))

  return {
    mailer,
    mailInvitation: mailer && mailInvitation,
    emailChanges: new EmailChanges({
      store,
      clock,
      random: systemRandom,
      mailer,
      onMailDropped: (personId, reason) =>
        noteDropped(INSTANCE, personId, { kind: 'email_change', reason }),
      mailsPerAccount: throttles.create('email-changes', EMAIL_CHANGE_LIMITS),
      baseUrl,
    }),
    passwordResets: new PasswordResets({
      store,
      clock,
      passwords,
      resetLinks,
      mailer,
      onMailDropped: (personId, reason) =>
        noteDropped(INSTANCE, personId, { kind: 'password_reset', reason }),
      mailsPerAccount: throttles.create('reset-mails', RESET_MAIL_LIMITS),
      requestsPerAddress: throttles.create('reset-requests', RESET_REQUEST_LIMITS),
      baseUrl,
      onError: logUnexpected(log, 'password reset'),
    }),
  }
}
