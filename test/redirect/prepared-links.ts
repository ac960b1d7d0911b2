import type { FoundLink, VisitFinder } from '../../src/redirects/find-link.ts'
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
    tracksConversions: null,
    utm: [],
    elsewhereAt: -1,
    ...fields,
  }
}

/** Finds the same link, on a host that is not this instance's, whatever is requested. */
export function finderOf(
  found: Pick<FoundLink, 'host' | 'link'> & Partial<FoundLink>,
): Pick<VisitFinder, 'findHost' | 'findOn' | 'hostsVersion' | 'peekHost'> {
  const plain = {
    ...{ path: undefined, isRoot: false, file: undefined, sets: [] },
    ...{ labelParameter: null, tokenParameter: null },
  }
  return {
    findHost: () => found.host,
    peekHost: () => undefined,
    hostsVersion: 0,
    findOn: () => ({ ...plain, ...found }),
  }
}
