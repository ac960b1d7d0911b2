let second = 0
let text = ''

/** The value of a `Date` header (RFC 9110, section 6.6.1), formatted at most once a second. */
export function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    text = new Date(now * 1000).toUTCString()
  }
  return text
}
