import type { Mail } from '../platform/mail/mailer.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { holdsWebAddress } from './people/person.ts'

type InvitationMail = {
  readonly to: string
  /** The host of the service. */
  readonly host: string
  readonly workspace: string
  /** The name of who invites. */
  readonly invitedBy: string
  readonly url: string
}

/** A link to join a workspace. */
export function invitationMail(invitation: InvitationMail, language: MailLanguage): Mail {
  const text = INVITATION_TEXTS[language]({ ...invitation, invitedBy: inert(invitation.invitedBy) })
  return layOut(invitation.to, language, text, invitation.url)
}

/** A name of which no program makes a link: those of tokens, and of people from before there was a rule, may be one. */
function inert(name: string): string {
  return holdsWebAddress(name) ? name.replaceAll(/[^\p{L}\p{M}\p{N}\s-]+/gu, ' $& ').trim() : name
}

const INVITATION_TEXTS: Readonly<Record<MailLanguage, (invitation: InvitationMail) => MailText>> = {
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

type Reset = {
  readonly to: string
  /** The host of the service. */
  readonly host: string
  readonly url: string
}

/** A link to set a new password. The person's name is left out: the requester may not know it. */
export function passwordResetMail({ to, host, url }: Reset, language: MailLanguage): Mail {
  return layOut(to, language, RESET_TEXTS[language](host), url)
}

const RESET_TEXTS: Readonly<Record<MailLanguage, (host: string) => MailText>> = {
  en: (host) => ({
    subject: `Set a new password for ${host}`,
    greeting: 'Hello,',
    paragraphs: [`Somebody, probably you, asked for a new password for ${host}.`],
    action: 'Set a new password',
    notes: [
      'The link works once, within one hour. All sessions end when you set the password.',
      'If you did not ask for it, ignore this message: nothing changes.',
    ],
  }),
  de: (host) => ({
    subject: `Neues Passwort für ${host}`,
    greeting: 'Guten Tag,',
    paragraphs: [
      `jemand, wahrscheinlich Sie selbst, hat ein neues Passwort für ${host} angefordert.`,
    ],
    action: 'Neues Passwort festlegen',
    notes: [
      'Der Link gilt einmal und eine Stunde lang. Mit dem neuen Passwort enden alle Sitzungen.',
      'Falls Sie nichts angefordert haben, ignorieren Sie diese Nachricht: Es ändert sich nichts.',
    ],
  }),
}

type EmailChange = {
  readonly to: string
  /** The host of the service. */
  readonly host: string
  readonly url: string
}

/** To a new address: a link that confirms it. It names no person, because the address may be a stranger's. */
export function emailChangeMail({ to, host, url }: EmailChange, language: MailLanguage): Mail {
  return layOut(to, language, CONFIRM_TEXTS[language](host), url)
}

/** To the former address, whose owner may not have changed it. */
export function emailChangedMail({ to, host, url }: EmailChange, language: MailLanguage): Mail {
  return layOut(to, language, CHANGED_TEXTS[language](host), url)
}

const CONFIRM_TEXTS: Readonly<Record<MailLanguage, (host: string) => MailText>> = {
  en: (host) => ({
    subject: `Confirm your address for ${host}`,
    greeting: 'Hello,',
    paragraphs: [`Somebody, probably you, wants to sign in to ${host} with this address.`],
    action: 'Confirm the address',
    notes: [
      'The link works once, within one hour, in a browser in which you are signed in.',
      'If you did not ask for it, ignore this message: nothing changes.',
    ],
  }),
  de: (host) => ({
    subject: `Ihre Adresse für ${host} bestätigen`,
    greeting: 'Guten Tag,',
    paragraphs: [
      `jemand, wahrscheinlich Sie selbst, möchte sich bei ${host} mit dieser Adresse anmelden.`,
    ],
    action: 'Adresse bestätigen',
    notes: [
      'Der Link gilt einmal und eine Stunde lang, in einem Browser, in dem Sie angemeldet sind.',
      'Falls Sie nichts angefordert haben, ignorieren Sie diese Nachricht: Es ändert sich nichts.',
    ],
  }),
}

const CHANGED_TEXTS: Readonly<Record<MailLanguage, (host: string) => MailText>> = {
  en: (host) => ({
    subject: `Your address for ${host} was changed`,
    greeting: 'Hello,',
    paragraphs: [
      `Your account at ${host} has another e-mail address now. All other sessions ended.`,
    ],
    action: 'Sign in',
    notes: ['If you did not change it, tell whoever operates this service at once.'],
  }),
  de: (host) => ({
    subject: `Ihre Adresse für ${host} wurde geändert`,
    greeting: 'Guten Tag,',
    paragraphs: [
      `Ihr Konto bei ${host} hat jetzt eine andere E-Mail-Adresse. Alle anderen Sitzungen sind beendet.`,
    ],
    action: 'Anmelden',
    notes: ['Falls Sie das nicht waren, wenden Sie sich sofort an den Betreiber dieses Dienstes.'],
  }),
}

type DisabledWebhook = {
  readonly to: string
  /** The host of the service. */
  readonly host: string
  readonly workspace: string
  readonly name: string
  /** Why, as a sentence. */
  readonly reason: string
  /** Of the endpoint in the dashboard. */
  readonly url: string
}

/** To people who may enable a webhook again: the service has disabled it. No request has caused it, so it is in English. */
export function webhookDisabledMail({
  to,
  host,
  workspace,
  name,
  reason,
  url,
}: DisabledWebhook): Mail {
  const text = {
    subject: `A webhook of ${workspace} on ${host} is disabled`,
    greeting: 'Hello,',
    paragraphs: [
      `The webhook ${inert(name)} of the workspace ${inert(workspace)} is sent no more events. ${reason}`,
    ],
    action: 'See the last attempts, and enable it again',
    notes: ['Events that were not delivered can be sent again from there.'],
  }
  return layOut(to, DEFAULT_MAIL_LANGUAGE, text, url)
}

export type MailLanguage = 'en' | 'de'

/** For people whose languages mails do not have. */
export const DEFAULT_MAIL_LANGUAGE = 'en'

/** The languages of mail; the request that causes a mail decides. */
export const MAIL_LANGUAGES: ReadonlyMap<string, MailLanguage> = new Map([
  ['en', 'en'],
  ['de', 'de'],
])

/** A short text with one link. */
type MailText = {
  readonly subject: string
  readonly greeting: string
  readonly paragraphs: readonly string[]
  /** What the link does. */
  readonly action: string
  /** Until when it works, and what to do otherwise. */
  readonly notes: readonly string[]
}

/** Writes the same message as text and as HTML without pictures, styles or anything that loads. */
function layOut(to: string, language: MailLanguage, text: MailText, url: string): Mail {
  const { subject, greeting, paragraphs, action, notes } = text
  const lines = [greeting, ...paragraphs, `${action}:\n${url}`, ...notes]
  const paragraph = (content: string) => `<p>${content}</p>`
  const link = `<a href="${escapeHtml(url)}">${escapeHtml(action)}</a>`
  const body = [
    ...[greeting, ...paragraphs].map((line) => paragraph(escapeHtml(line))),
    paragraph(link),
    paragraph(escapeHtml(url)),
    ...notes.map((line) => paragraph(escapeHtml(line))),
  ]
  return {
    to,
    subject,
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${escapeHtml(subject)}</title><body>${body.join('')}</body></html>`,
  }
}
