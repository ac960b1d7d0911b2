/** A query parameter: its decoded name, and its encoded text. */
export type Parameter = { readonly name: string; readonly text: string }

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not get into a header
const UNSAFE = /[\u0000-\u0020"<>\\^`{|}\u007f-\uffff]/g

/** A destination up to the end of its query, and up to its beginning. */
const WITH_QUERY = /^([^?#]*)\?[^#]*/

/** There a parameter would become part of a mail, or of a number. */
const CONTACT = /^(?:mailto|tel|sms):/

/** Whether a destination is the address of a person. */
export function isContact(destination: string): boolean {
  return CONTACT.test(destination)
}

/**
 * Sets parameters on a destination: existing parameters of the same names are dropped, and the new ones
 * come last. Everything else of the destination stays byte for byte, because destinations sign, order
 * and encode their queries in their own ways. Addresses of people get none.
 *
 * @param onReplaced called with each parameter that is dropped
 */
export function withParameters(
  destination: string,
  parameters: readonly Parameter[],
  onReplaced?: (text: string) => void,
): string {
  if (parameters.length === 0 || CONTACT.test(destination)) return destination
  const hashAt = destination.indexOf('#')
  const fragment = hashAt === -1 ? '' : destination.slice(hashAt)
  const whole = hashAt === -1 ? destination : destination.slice(0, hashAt)
  const queryAt = whole.indexOf('?')
  const base = queryAt === -1 ? whole : whole.slice(0, queryAt)
  const names = new Set(parameters.map((parameter) => parameter.name))
  const query = queryAt === -1 ? '' : whole.slice(queryAt + 1)
  const isKept = (text: string) => {
    if (!names.has(nameOf(text))) return true
    onReplaced?.(text)
    return false
  }
  const kept = query === '' ? [] : query.split('&').filter(isKept)
  const texts = kept.concat(parameters.map((parameter) => parameter.text))
  return `${base}?${texts.join('&')}${fragment}`
}

/**
 * Sets the token of a visit on a destination, as `withParameters` does.
 *
 * @param parameter unreserved characters of URLs, as the token has
 */
export function withToken(destination: string, parameter: string, token: string): string {
  const text = `${parameter}=${token}`
  // Nearly no destination has a parameter of this name, whatever its spelling.
  if (destination.includes(parameter) || destination.includes('%')) {
    return withParameters(destination, [{ name: parameter, text }])
  }
  if (CONTACT.test(destination)) return destination
  const hashAt = destination.indexOf('#')
  const whole = hashAt === -1 ? destination : destination.slice(0, hashAt)
  const fragment = hashAt === -1 ? '' : destination.slice(hashAt)
  const mark = !whole.includes('?') ? '?' : whole.endsWith('?') ? '' : '&'
  return `${whole}${mark}${text}${fragment}`
}

/**
 * Returns a destination without its query. Addresses of people stay as they are.
 *
 * @param onReplaced called with each parameter that is dropped
 */
export function withoutQuery(destination: string, onReplaced?: (text: string) => void): string {
  const [whole, base = ''] = WITH_QUERY.exec(destination) ?? []
  if (whole === undefined || CONTACT.test(destination)) return destination
  if (onReplaced !== undefined) {
    for (const text of whole.slice(base.length + 1).split('&')) onReplaced(text)
  }
  return base + destination.slice(whole.length)
}

/** Returns those of the parameters of whose names the destination has none. */
export function missingIn(
  destination: string,
  parameters: readonly Parameter[],
): readonly Parameter[] {
  const hashAt = destination.indexOf('#')
  const whole = hashAt === -1 ? destination : destination.slice(0, hashAt)
  const queryAt = whole.indexOf('?')
  if (queryAt === -1) return parameters
  const names = new Set(
    whole
      .slice(queryAt + 1)
      .split('&')
      .map(nameOf),
  )
  return parameters.filter(({ name }) => !names.has(name))
}

/** Returns the parameters of a query as it was sent, escaped where a header must not hold a character. */
export function parseQuery(query: string): Parameter[] {
  if (query === '') return []
  return query
    .split('&')
    .filter((text) => text !== '')
    .map(escapeUnsafe)
    .map((text) => ({ name: nameOf(text), text }))
}

function nameOf(text: string): string {
  const equals = text.indexOf('=')
  return decode(equals === -1 ? text : text.slice(0, equals))
}

/** Encodes a parameter. */
export function formatParameter(name: string, value: string): Parameter {
  const encoded = encodeURIComponent(name)
  return { name: decode(encoded), text: `${encoded}=${encodeURIComponent(value)}` }
}

/** Node's parser accepts ASCII only. If it ever accepts more, one character is one byte. */
export function escapeUnsafe(text: string): string {
  return text.replace(
    UNSAFE,
    (character) =>
      `%${(character.charCodeAt(0) & 0xff).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}

/**
 * Decodes a name to bytes, one character each, which is enough to compare two names. It never throws:
 * a visitor may send thousands of names that are not UTF-8, and each error would cost time.
 */
function decode(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}
