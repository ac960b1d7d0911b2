import type { Mail } from '../../platform/mail/mailer.ts'

export type MailLanguage = 'en' | 'de'

/** For people whose languages mails do not have. */
export const DEFAULT_MAIL_LANGUAGE = 'en'

/** The languages of mail; the request that causes a mail decides. */
export const MAIL_LANGUAGES: ReadonlyMap<string, MailLanguage> = new Map([
  ['en', 'en'],
  ['de', 'de'],
])

/** A short text with one link. */
export type MailText = {
  readonly subject: string
  readonly greeting: string
  readonly paragraphs: readonly string[]
  /** What the link does. */
  readonly action: string
  /** Until when it works, and what to do otherwise. */
  readonly notes: readonly string[]
}

/** Writes the same message as text and as HTML without pictures, styles or anything that loads. */
export function layOut(to: string, language: MailLanguage, text: MailText, url: string): Mail {
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

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
