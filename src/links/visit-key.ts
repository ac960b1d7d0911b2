/** In UTF-16 units: 190 characters of at most two. Longer paths cannot be keys and are never cached. */
const KEY_UNITS_MAX = 380

/**
 * Returns the key that a path requests, in its stored form; undefined for a path that cannot be a key.
 * Drops one trailing slash: no key ends with one, and people and programs add it.
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
    // No key contains a NUL, and PostgreSQL rejects text with one.
    return decoded.includes('\0') ? undefined : decoded.normalize('NFC')
  } catch {
    return undefined
  }
}
