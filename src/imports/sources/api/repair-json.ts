const ESCAPES = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/
/** What follows the quote that ends a string: the next value, a colon, or the end of an object or array. */
const AFTER_STRING = /^\s*(?:[:\]}]|,\s*["{[\d\-tfn]|$)/

/**
 * Repairs texts in JSON that a service did not escape: raw control characters, backslashes, and quotes. A
 * quote ends a text only where JSON can go on after it, so a text that imitates JSON stays ambiguous: callers
 * mark what they read from a repaired answer.
 */
export function repairJson(json: string): string {
  let repaired = ''
  let isInText = false
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at)
    if (!isInText) {
      isInText = character === '"'
      repaired += character
    } else if (character === '\\') {
      const known = ESCAPES.exec(json.slice(at + 1, at + 6))?.[0]
      repaired += known === undefined ? '\\\\' : `\\${known}`
      at += known?.length ?? 0
    } else if (character === '"' && AFTER_STRING.test(json.slice(at + 1, at + 200))) {
      isInText = false
      repaired += character
    } else if (character === '"') {
      repaired += '\\"'
    } else {
      repaired += character < ' ' ? JSON.stringify(character).slice(1, -1) : character
    }
  }
  return repaired
}
