import type { FoundLink, VisitFinder } from '../../src/redirects/find-link.ts'
import {
  type LinkTraits,
  type PreparedLink,
  USUAL_TRAITS,
} from '../../src/redirects/prepared-link.ts'

/** A plain link as the redirect reads it, with the given fields and traits. */
export function preparedLink(fields: Partial<PreparedLink & LinkTraits> = {}): PreparedLink {
  const { seq = 1, workspaceId = 'workspace', key = 'key', ...others } = fields
  const { url = 'https://example.com/web', elsewhereAt = -1, ...traits } = others
  return { seq, workspaceId, key, url, elsewhereAt, traits: { ...USUAL_TRAITS, ...traits } }
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
