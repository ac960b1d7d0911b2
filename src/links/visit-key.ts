/** In UTF-16 units: 190 characters of two each. What is longer is no key, and no name to remember. */
const KEY_UNITS_MAX = 380

/**
 * The key that a path asks for, in the form in which keys are stored; undefined for a path that no
 * key can have. One slash at the end is dropped: no key ends with one, and people and programs add it.
 *
 * @param path as sent, with its leading slash. Node's parser refuses bytes outside ASCII before this.
 */
export function keyOfPath(path: string): string | undefined {
  const encoded = path.slice(1, path.endsWith('/') ? -1 : undefined)
  const key = encoded.includes('%') ? decode(encoded) : encoded
  return key !== undefined && key.length <= KEY_UNITS_MAX ? key : undefined
}

function decode(encoded: string): string | undefined {
  try {
    const decoded = decodeURIComponent(encoded)
    // No key holds a NUL, and PostgreSQL fails at a text that does.
    return decoded.includes('\0') ? undefined : decoded.normalize('NFC')
  } catch {
    return undefined
  }
}
