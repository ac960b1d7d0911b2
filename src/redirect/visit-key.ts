// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII itself
const ASCII = /^[\u0000-\u007f]*$/

/** In UTF-16 units: 190 characters of two each. What is longer is no key, and no name to remember. */
const KEY_UNITS_MAX = 380

/**
 * The key that a path asks for, in the form in which keys are stored; undefined for a path that no
 * key can have. Bytes outside ASCII, which some clients send unencoded, are read as UTF-8.
 *
 * @param path as sent, with its leading slash; Node shows its bytes as Latin-1 characters
 */
export function keyOfPath(path: string): string | undefined {
  let key = path.slice(1)
  const isAscii = ASCII.test(key)
  if (isAscii && !key.includes('%')) return bounded(key)
  if (!isAscii) key = Buffer.from(key, 'latin1').toString('utf8')
  try {
    return bounded(decodeURIComponent(key).normalize('NFC'))
  } catch {
    return undefined
  }
}

function bounded(key: string): string | undefined {
  return key.length <= KEY_UNITS_MAX ? key : undefined
}
