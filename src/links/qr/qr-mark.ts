/** The query parameter in the short link of a tracked QR code, which marks its visits. */
export const QR_MARK = 'qr=1'

/** Whether a raw query contains the mark as a parameter. */
export function hasQrMark(query: string): boolean {
  return query !== '' && query.split('&').includes(QR_MARK)
}

/** Returns the raw query without the mark; every other byte is unchanged. */
export function withoutQrMark(query: string): string {
  if (!query.includes(QR_MARK)) return query
  return query
    .split('&')
    .filter((parameter) => parameter !== QR_MARK)
    .join('&')
}
