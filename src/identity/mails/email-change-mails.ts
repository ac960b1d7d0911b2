import type { Mail } from '../../platform/mail/mailer.ts'
import { layOut, type MailLanguage, type MailText } from './mail-layout.ts'

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
