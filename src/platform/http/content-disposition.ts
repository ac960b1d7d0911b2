/**
 * The value of `Content-Disposition` (RFC 6266): the name in characters that every client and file system
 * takes, and the name itself besides where it has others.
 *
 * @param name any text; only `/` and `\` are replaced in it, as a file name cannot hold them
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const whole = name.replace(/[/\\]+/g, '-')
  const plain = whole.replace(/[^a-zA-Z0-9._-]+/g, '-')
  const value = `${kind}; filename="${plain}"`
  return plain === whole ? value : `${value}; filename*=UTF-8''${encodeValue(whole)}`
}

/** As RFC 8187 asks; `encodeURIComponent` leaves three characters that it does not allow. */
function encodeValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
