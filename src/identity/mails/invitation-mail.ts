import type { Mail } from '../../platform/mail/mailer.ts'
import { holdsWebAddress } from '../people/person-name.ts'
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
  const text = TEXTS[language]({ ...invitation, invitedBy: inert(invitation.invitedBy) })
  return layOut(invitation.to, language, text, invitation.url)
}

/** A name of which no program makes a link: those of tokens, and of people from before there was a rule, may be one. */
function inert(name: string): string {
  return holdsWebAddress(name) ? name.replaceAll(/[^\p{L}\p{M}\p{N}\s-]+/gu, ' $& ').trim() : name
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
