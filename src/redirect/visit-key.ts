// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII itself
const ASCII = /^[\u0000-\u007f]*$/

/**
 * The key that a path asks for, in the form in which keys are stored; undefined for a path that no
 * key can have. Bytes outside ASCII, which some clients send unencoded, are read as UTF-8.
 *
 * @param path as sent, with its leading slash; Node shows its bytes as Latin-1 characters
 */
export function keyOfPath(path: string): string | undefined {
  let key = path.slice(1)
  const isAscii = ASCII.test(key)
  if (isAscii && !key.includes('%')) return key
  if (!isAscii) key = Buffer.from(key, 'latin1').toString('utf8')
  try {
    return decodeURIComponent(key).normalize('NFC')
  } catch {
    return undefined
  }
}
