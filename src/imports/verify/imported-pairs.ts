import type { ImportRowStore } from '../store/import-row-store.ts'
import type { LinkPair } from './verify-links.ts'

const BATCH_SIZE = 500

export type OldService = {
  /** Where its own domain is, for links that name none. */
  readonly ownUrl: URL | undefined
  /** The scheme of the source's other domains. */
  readonly scheme: 'http' | 'https'
}

/**
 * Returns the links that an import made or found, with their links at the old service, in the order of the source.
 *
 * @throws {Error} when a link is on the service's own domain, and that is not given
 */
export async function* importedPairs(
  importRows: Pick<ImportRowStore, 'list'>,
  importId: string,
  service: OldService,
): AsyncGenerator<LinkPair, void, void> {
  for (let beyond = 0; ; ) {
    const rows = await importRows.list(importId, beyond, BATCH_SIZE)
    for (const { old_link, link, link_id } of rows) {
      const linkUrl = link === null ? null : urlOf(link)
      if (link_id === null || linkUrl === null) continue
      yield { oldLink: oldUrlOf(old_link, service), link: linkUrl }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    beyond = last.number
  }
}

function oldUrlOf(oldLink: string, { ownUrl, scheme }: OldService): URL {
  if (!oldLink.startsWith('/')) return getUrl(`${scheme}://${oldLink}`)
  if (ownUrl === undefined) {
    throw new Error(
      'The import has links on the own domain of the old service: name it with --old-url.',
    )
  }
  return getUrl(`${ownUrl.href.replace(/\/+$/, '')}${oldLink}`)
}

function getUrl(text: string): URL {
  const url = urlOf(text)
  if (url === null) throw new Error(`${text} is no URL.`)
  return url
}

/** Encodes what stands for itself in keys, and means something else in URLs. */
function urlOf(shortLink: string): URL | null {
  return URL.parse(shortLink.replaceAll('%', '%25').replaceAll('?', '%3F').replaceAll('#', '%23'))
}
