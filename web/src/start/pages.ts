import { LINKS_PER_PAGE, parseLinksSearch } from '../api/link-filter.ts'
import { linkRead, linksRead, type Read, USAGE_READ } from '../api/reads.ts'
import { parseAnalyticsPageSearch, scopeOf } from '../pages/analytics/analytics-search.ts'
import { lineRead, type View, viewOf } from '../pages/analytics/view.ts'
import { linkViewOf, parseLinkSearch } from '../pages/link/link-view.ts'
import { parseSearchText, type SearchValues } from '../search-text.ts'
import { storedLinkDays } from '../state/stored.ts'

export type FirstPage = {
  /** The files of its components, as below `src/`. */
  readonly code: readonly string[]
  /** What is shown first. */
  readonly reads: readonly Read[]
}

type Describe = (values: SearchValues, id: string) => FirstPage

const links: Describe = (values) => {
  const { page = 1, ...filter } = parseLinksSearch(values)
  return { code: ['pages/links/LinksPage.tsx'], reads: [linksRead(filter, page, LINKS_PER_PAGE)] }
}

/** The pages that a person opens first, by their addresses below `/app`. The others are loaded step by step. */
const PAGES: readonly (readonly [RegExp, Describe])[] = [
  [/^\/?$/, links],
  [/^\/links\/?$/, links],
  [/^\/links\/new\/?$/, () => ({ code: ['pages/link-form/NewLinkPage.tsx'], reads: [] })],
  [
    /^\/links\/([\w-]+)\/?$/,
    (values, id) => {
      const view = linkViewOf(id, parseLinkSearch(values), storedLinkDays(), new Date())
      return { code: ['pages/link/LinkPage.tsx'], reads: [linkRead(id), ...lines(view)] }
    },
  ],
  [
    /^\/analytics\/?$/,
    (values) => {
      const search = parseAnalyticsPageSearch(values)
      const view = viewOf(scopeOf(search), search, new Date())
      return { code: ['pages/analytics/AnalyticsPage.tsx'], reads: lines(view) }
    },
  ],
  [/^\/domains\/?$/, () => ({ code: ['pages/domains/DomainsPage.tsx'], reads: [] })],
  [/^\/tags\/?$/, () => ({ code: ['pages/tags/TagsPage.tsx'], reads: [] })],
]

/** The line of the period and of the one before it. */
function lines(view: View): readonly Read[] {
  if (view.scope.links.length > 1) return []
  return [view.period, view.compared].flatMap((period) => (period ? [lineRead(view, period)] : []))
}

/** What the page at an address begins with; undefined where nothing is known of it. */
export function pageOf({ pathname, search }: Location): FirstPage | undefined {
  const path = pathname.replace(/^\/app/, '')
  for (const [pattern, describe] of PAGES) {
    const match = pattern.exec(path)
    if (match === null) continue
    const page = describe(parseSearchText(search), match[1] ?? '')
    return { ...page, reads: [...page.reads, USAGE_READ] }
  }
  return undefined
}
