import type { Mail } from '../../platform/mail/mailer.ts'
import { layOut, type MailLanguage, type MailText } from './mail-layout.ts'

type Invitation = {
  readonly to: string
  /** The host of the service. */
  readonly host: string
  readonly workspace: string
  /** The name of who invites. */
  readonly invitedBy: string
  readonly url: string
}

/** A link to join a workspace. */
export function invitationMail(invitation: Invitation, language: MailLanguage): Mail {
  return layOut(invitation.to, language, TEXTS[language](invitation), invitation.url)
}

const TEXTS: Readonly<Record<MailLanguage, (invitation: Invitation) => MailText>> = {
  en: ({ host, workspace, invitedBy }) => ({
    subject: `Invitation to ${workspace} on ${host}`,
    greeting: 'Hello,',
    paragraphs: [`${invitedBy} invites you to the workspace ${workspace} on ${host}.`],
    action: 'Accept the invitation',
    notes: ['The link works once, within seven days.'],
  }),
  de: ({ host, workspace, invitedBy }) => ({
    subject: `Einladung zu ${workspace} auf ${host}`,
    greeting: 'Guten Tag,',
    paragraphs: [`${invitedBy} lädt Sie in den Arbeitsbereich ${workspace} auf ${host} ein.`],
    action: 'Einladung annehmen',
    notes: ['Der Link gilt einmal und sieben Tage lang.'],
  }),
}
