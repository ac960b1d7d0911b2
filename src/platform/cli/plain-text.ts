import { stripVTControlCharacters } from 'node:util'

/** Control characters, and those that reverse the direction of what follows them. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Removes what controls a terminal: text of visitors, other servers and other people must not. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(UNSAFE, ' ')
}

/** Formats JSON for programs and terminals: what controls a terminal is escaped, so nothing is lost. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(UNSAFE, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
