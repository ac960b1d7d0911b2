import type { Mail } from '../../platform/mail/mailer.ts'
import { layOut, type MailLanguage, type MailText } from './mail-layout.ts'

type Reset = {
  readonly to: string
  /** The host of the service. */
  readonly host: string
  readonly url: string
}

/** A link to set a new password. The person's name is left out: the requester may not know it. */
export function passwordResetMail({ to, host, url }: Reset, language: MailLanguage): Mail {
  return layOut(to, language, TEXTS[language](host), url)
}

const TEXTS: Readonly<Record<MailLanguage, (host: string) => MailText>> = {
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
