/** Addresses of people, which a phone or a mail program opens. */
const CONTACT = new Set(['mailto:', 'tel:', 'sms:'])

/** A typed or pasted destination; `example.com/x` gets `https://`. Undefined where it is neither a web
 * address nor one of a person. */
export function destinationOf(typed: string): string | undefined {
  const text = typed.trim()
  if (text === '' || /\s/.test(text)) return undefined
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d/.test(text)
  const url = hasScheme ? text : `https://${text}`
  if (!URL.canParse(url)) return undefined
  const { protocol, hostname } = new URL(url)
  if (CONTACT.has(protocol)) return text
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  return hasScheme || hostname.includes('.') ? url : undefined
}
