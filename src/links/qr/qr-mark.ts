/** The parameter that a tracked QR code's address carries, so that its visits can be told apart. */
export const QR_MARK = 'qr=1'

/** Whether a query, as sent, has the mark among its parameters. */
export function hasQrMark(query: string): boolean {
  return query !== '' && query.split('&').includes(QR_MARK)
}

/** The query without the mark; every other byte stays as it was sent. */
export function withoutQrMark(query: string): string {
  if (!query.includes(QR_MARK)) return query
  return query
    .split('&')
    .filter((parameter) => parameter !== QR_MARK)
    .join('&')
}
