import type { PreparedLink } from '../../src/redirects/prepared-link.ts'

/** A plain link as the redirect reads it, with the given fields. */
export function preparedLink(fields: Partial<PreparedLink> = {}): PreparedLink {
  return {
    seq: 1,
    workspaceId: 'workspace',
    key: 'key',
    url: 'https://example.com/web',
    ios: null,
    android: null,
    expiresAtMs: Number.POSITIVE_INFINITY,
    expiredRedirectUrl: null,
    password: null,
    rules: null,
    activeFromMs: 0,
    path: 'none',
    maxClicks: null,
    query: 'merge',
    ruleSet: null,
    preview: null,
    utm: [],
    elsewhereAt: -1,
    ...fields,
  }
}
