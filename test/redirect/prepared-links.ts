import type { PreparedLink } from '../../src/redirects/prepared-link.ts'

/** A link as the redirect sees it, plain but for what a test is about. */
export function preparedLink(fields: Partial<PreparedLink> = {}): PreparedLink {
  return {
    seq: 1,
    key: 'key',
    url: 'https://example.com/web',
    ios: null,
    android: null,
    expiresAtMs: Number.POSITIVE_INFINITY,
    expiredRedirectUrl: null,
    password: null,
    ...fields,
  }
}
