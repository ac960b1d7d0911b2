import type { QueryClient } from '@tanstack/react-query'
import {
  type AnyRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { defaultDomainQuery, domainsQuery } from './api/domains.ts'
import { LINKS_PER_PAGE } from './api/link-filter.ts'
import { linkQuery, linksQuery } from './api/links.ts'
import { TAG_SORTS, type TagSort } from './api/tags.ts'
import { parseAnalyticsPageSearch, scopeOf } from './pages/analytics/analytics-search.ts'
import { lineQuery } from './pages/analytics/line-queries.ts'
import { viewOf } from './pages/analytics/view.ts'
import { parseLinkSearch } from './pages/link/link-view.ts'
import { parseLinksSearch } from './pages/links/links-search.ts'
import { settings, settingsPages } from './routes/settings.ts'
import { firstLink, home, noWorkspace, root, shell } from './routes/shell.ts'
import { invitation, reset, setUp, signIn } from './routes/signed-out.ts'
import { formatSearchText, parseSearchText, positiveOf, textOf, wordOf } from './search-text.ts'

/** As long as skeletons wait before they appear. */
const MOMENT_MS = 150

/**
 * Waits up to 150 ms for the first data of a page that is opened: a page that has its data is drawn only once. After
 * that time, and when only the filters change, the page is shown before its data.
 */
function aMoment(cause: 'enter' | 'stay' | 'preload', loading: Promise<unknown>) {
  if (cause !== 'enter') return undefined
  return Promise.race([loading, new Promise((resolve) => setTimeout(resolve, MOMENT_MS))])
}

const links = createRoute({
  getParentRoute: () => shell,
  path: '/links',
  validateSearch: parseLinksSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, cause, deps: { page = 1, ...filter } }) =>
    aMoment(cause, context.client.prefetchQuery(linksQuery(filter, page, LINKS_PER_PAGE))),
  component: lazyRouteComponent(() => import('./pages/links/LinksPage.tsx')),
})

const analytics = createRoute({
  getParentRoute: () => shell,
  path: '/analytics',
  validateSearch: parseAnalyticsPageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, cause, deps }) => {
    const view = viewOf(scopeOf(deps), deps, new Date())
    return aMoment(cause, context.client.prefetchQuery(lineQuery(view)))
  },
  component: lazyRouteComponent(() => import('./pages/analytics/AnalyticsPage.tsx')),
})

/** What the form begins with. */
type NewLinkSearch = {
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly domain?: string | undefined
  /** The link that it is a copy of. */
  readonly from?: string | undefined
}

const newLink = createRoute({
  getParentRoute: () => shell,
  path: '/links/new',
  validateSearch: ({ url, key, domain, from }): NewLinkSearch => ({
    url: textOf(url),
    key: textOf(key),
    domain: textOf(domain),
    from: textOf(from),
  }),
  loader: ({ context: { client } }) =>
    Promise.all([client.prefetchQuery(domainsQuery), client.prefetchQuery(defaultDomainQuery)]),
  component: lazyRouteComponent(() => import('./pages/link-form/NewLinkPage.tsx')),
})

const link = createRoute({
  getParentRoute: () => shell,
  path: '/links/$linkId',
  validateSearch: parseLinkSearch,
  loader: ({ context, params }) => context.client.prefetchQuery(linkQuery(params.linkId)),
  component: lazyRouteComponent(() => import('./pages/link/LinkPage.tsx')),
})

const editLink = createRoute({
  getParentRoute: () => shell,
  path: '/links/$linkId/edit',
  component: lazyRouteComponent(() => import('./pages/link-form/EditLinkPage.tsx')),
})

type DomainsSearch = {
  readonly page?: number | undefined
  /** The only domain that is shown. */
  readonly id?: string | undefined
  /** Whether the dialog is open that adds one. */
  readonly add?: 'yes' | undefined
}

const domains = createRoute({
  getParentRoute: () => shell,
  path: '/domains',
  validateSearch: ({ page, id, add }): DomainsSearch => ({
    page: positiveOf(page),
    id: textOf(id),
    add: wordOf(['yes'], add),
  }),
  component: lazyRouteComponent(() => import('./pages/domains/DomainsPage.tsx')),
})

type TagsSearch = {
  readonly search?: string | undefined
  readonly sort?: TagSort | undefined
  readonly page?: number | undefined
}

const tags = createRoute({
  getParentRoute: () => shell,
  path: '/tags',
  validateSearch: ({ search, sort, page }): TagsSearch => ({
    search: textOf(search),
    sort: wordOf(TAG_SORTS, sort),
    page: positiveOf(page),
  }),
  component: lazyRouteComponent(() => import('./pages/tags/TagsPage.tsx')),
})

const utmTemplates = createRoute({
  getParentRoute: () => shell,
  path: '/tags/utm-templates',
  component: lazyRouteComponent(() => import('./pages/tags/UtmTemplatesPage.tsx')),
})

const routeTree = root.addChildren([
  signIn,
  setUp,
  invitation,
  reset,
  firstLink,
  shell.addChildren([
    home,
    noWorkspace,
    links,
    newLink,
    link,
    editLink,
    domains,
    analytics,
    tags,
    utmTemplates,
    settings.addChildren(settingsPages),
  ]),
])

export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/app',
    context: { client },
    parseSearch: parseSearchText,
    stringifySearch: formatSearchText,
    defaultPreload: 'intent',
    // Queries know how fresh they are.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  })
}

/** Loads the code of the page that the address names, beside the words and the session that it waits for. */
export function loadPageCode(router: ReturnType<typeof createAppRouter>): void {
  const routes: Readonly<Record<string, AnyRoute>> = router.routesById
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const route = routes[String(routeId)]
    // The router tries again, and shows what fails.
    if (route !== undefined) router.loadRouteChunk(route)?.catch(() => {})
  }
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
