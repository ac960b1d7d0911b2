/**
 * The value of `Content-Disposition` (RFC 6266): the name in characters that every client and file system
 * accepts, followed by the full name when it has other characters.
 *
 * @param name any text; `/` and `\` are replaced, because a file name cannot contain them
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const whole = name.replace(/[/\\]+/g, '-')
  const plain = whole.replace(/[^a-zA-Z0-9._-]+/g, '-')
  const value = `${kind}; filename="${plain}"`
  return plain === whole ? value : `${value}; filename*=UTF-8''${encodeValue(whole)}`
}

/** Encodes as RFC 8187 requires; `encodeURIComponent` leaves four characters that it does not allow. */
function encodeValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
