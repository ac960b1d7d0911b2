import { LINK_SORTS, LINK_STATES, type LinkFilter } from '../../api/link-filter.ts'
import { dayOf, positiveOf, type SearchValues, textOf, textsOf, wordOf } from '../../search-text.ts'

type LinksSearch = LinkFilter & { readonly page?: number | undefined }

export function parseLinksSearch(values: SearchValues): LinksSearch {
  const { search, domain, created_from, created_to, tag, state, url, sort, page } = values
  return {
    search: textOf(search),
    domain: textsOf(domain),
    created_from: dayOf(created_from),
    created_to: dayOf(created_to),
    tag: textsOf(tag),
    state: wordOf(LINK_STATES, state),
    url: textOf(url),
    sort: wordOf(LINK_SORTS, sort),
    page: positiveOf(page),
  }
}
