import type { QueryClient } from '@tanstack/react-query'
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { ApiError } from './api/api-error.ts'
import type { AuthorizationRequest } from './api/assistants.ts'
import { defaultDomainQuery, domainsQuery } from './api/domains.ts'
import { AUDIT_KINDS, type AuditFilter } from './api/events.ts'
import { LINKS_PER_PAGE, parseLinksSearch } from './api/link-filter.ts'
import { linkQuery, linksQuery } from './api/links.ts'
import { membershipOf } from './api/reads.ts'
import { type Membership, sessionQuery } from './api/session.ts'
import { TAG_SORTS, type TagSort } from './api/tags.ts'
import { usageQuery } from './api/workspaces.ts'
import {
  parseAnalyticsPageSearch,
  parseConversionsSearch,
  scopeOf,
} from './pages/analytics/analytics-search.ts'
import { lineQuery } from './pages/analytics/reports.ts'
import { viewOf } from './pages/analytics/view.ts'
import { parseLinkSearch } from './pages/link/link-view.ts'
import {
  dayOf,
  formatSearchText,
  parseSearchText,
  positiveOf,
  textOf,
  wordOf,
} from './search-text.ts'
import { NotFoundPage, PageFailure } from './shell/LoadFailure.tsx'
import { NoWorkspace } from './shell/Page.tsx'
import { Shell } from './shell/Shell.tsx'
import { currentWorkspace, setCurrentWorkspace } from './state/workspace.ts'

const root = createRootRouteWithContext<{ readonly client: QueryClient }>()({
  component: Outlet,
  errorComponent: PageFailure,
  notFoundComponent: NotFoundPage,
})

const NO_WORKSPACE = '/no-workspace'

/** Whether a page belongs to a workspace, and the person to none. */
function isLost(pathname: string, membership: Membership | undefined): boolean {
  return membership === undefined && !pathname.startsWith('/settings')
}

/** Returns the workspace that is shown; undefined for a person who is in none. Asks who has no session to sign in. */
async function requireSession(client: QueryClient, href: string): Promise<Membership | undefined> {
  const session = await client.ensureQueryData(sessionQuery).catch((error) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    throw redirect({ to: '/sign-in', search: { to: href } })
  })
  const membership = membershipOf(session, currentWorkspace.value)
  if (membership !== undefined) setCurrentWorkspace(membership.workspace_id)
  return membership
}

/** Everything below it needs a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    const membership = await requireSession(context.client, location.href)
    const { pathname } = location
    // The own account and the instance belong to no workspace.
    if (pathname === NO_WORKSPACE ? membership !== undefined : isLost(pathname, membership)) {
      throw redirect({ to: membership === undefined ? NO_WORKSPACE : '/links', replace: true })
    }
  },
})

/** Where the set-up ends. With the first link, it gives way to the list. */
const firstLink = createRoute({
  getParentRoute: () => root,
  path: '/first-link',
  async beforeLoad({ context: { client }, location }) {
    const membership = await requireSession(client, location.href)
    if (membership === undefined) throw redirect({ to: NO_WORKSPACE, replace: true })
    const { links } = await client.fetchQuery(usageQuery)
    if (links.used > 0) throw redirect({ to: '/links', replace: true })
  },
  component: lazyRouteComponent(() => import('./pages/set-up/FirstLinkPage.tsx')),
})

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad() {
    throw redirect({ to: '/links', replace: true })
  },
})

const noWorkspace = createRoute({
  getParentRoute: () => shell,
  path: NO_WORKSPACE,
  component: NoWorkspace,
})

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/SettingsPage.tsx')),
})

const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: '/',
  async beforeLoad({ context }) {
    const { memberships } = await context.client.ensureQueryData(sessionQuery)
    const to = memberships.length > 0 ? '/settings/general' : '/settings/profile'
    throw redirect({ to, replace: true })
  },
})

const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: ({ kind, actor, from, to }): AuditFilter => ({
    kind: wordOf(AUDIT_KINDS, kind),
    actor: textOf(actor),
    from: dayOf(from),
    to: dayOf(to),
  }),
  component: lazyRouteComponent(() => import('./pages/settings/AuditPage.tsx')),
})

type MembersSearch = {
  /** Whether the dialog is open that invites a person. */
  readonly invite?: 'yes' | undefined
}

const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  validateSearch: ({ invite }): MembersSearch => ({ invite: wordOf(['yes'], invite) }),
  component: lazyRouteComponent(() => import('./pages/settings/MembersPage.tsx')),
})

/** A page of the settings whose address has no parameters. */
function settingsPage<const P extends string>(
  path: P,
  load: () => Promise<{ default: ComponentType }>,
) {
  return createRoute({
    getParentRoute: () => settings,
    path,
    component: lazyRouteComponent(load),
  })
}

const importDetails = createRoute({
  getParentRoute: () => settings,
  path: '/imports/$importId',
  component: lazyRouteComponent(() => import('./pages/settings/imports/ImportPage.tsx')),
})

const settingsPages = [
  settingsHome,
  audit,
  settingsPage('/general', () => import('./pages/settings/GeneralPage.tsx')),
  members,
  settingsPage('/labels', () => import('./pages/settings/LabelsPage.tsx')),
  settingsPage('/rule-sets', () => import('./pages/settings/RuleSetsPage.tsx')),
  settingsPage('/connect', () => import('./pages/connect/ConnectPage.tsx')),
  settingsPage('/webhooks', () => import('./pages/webhooks/WebhooksPage.tsx')),
  settingsPage('/imports', () => import('./pages/settings/imports/ImportsPage.tsx')),
  settingsPage('/imports/new', () => import('./pages/settings/imports/NewImportPage.tsx')),
  importDetails,
  settingsPage('/profile', () => import('./pages/settings/account/ProfilePage.tsx')),
  settingsPage('/security', () => import('./pages/settings/account/SecurityPage.tsx')),
  settingsPage('/sessions', () => import('./pages/settings/account/SessionsPage.tsx')),
  settingsPage('/instance', () => import('./pages/settings/instance/InstancePage.tsx')),
  settingsPage('/people', () => import('./pages/settings/instance/PeoplePage.tsx')),
  settingsPage('/workspaces', () => import('./pages/settings/instance/WorkspacesPage.tsx')),
] as const

type SignInSearch = {
  /** Where to go afterwards. */
  readonly to?: string | undefined
  /** Why single sign-on failed. */
  readonly error?: string | undefined
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ to, error }): SignInSearch => ({ to: textOf(to), error: textOf(error) }),
  component: lazyRouteComponent(() => import('./pages/sign-in/SignInPage.tsx')),
})

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => import('./pages/set-up/SetUpPage.tsx')),
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/sign-in/InvitationPage.tsx')),
})

/** Where programs send the browser of a person (RFC 6749, section 4.1.1). */
const authorize = createRoute({
  getParentRoute: () => root,
  path: '/authorize',
  validateSearch: (search): AuthorizationRequest => ({
    client_id: textOf(search.client_id) ?? '',
    redirect_uri: textOf(search.redirect_uri) ?? '',
    response_type: textOf(search.response_type),
    code_challenge: textOf(search.code_challenge),
    code_challenge_method: textOf(search.code_challenge_method),
    scope: textOf(search.scope),
    state: textOf(search.state),
    resource: textOf(search.resource),
  }),
  async beforeLoad({ context, location }) {
    await requireSession(context.client, location.href)
  },
  component: lazyRouteComponent(() => import('./pages/connect/AuthorizePage.tsx')),
})

/** Where the browser extension reads the answer in the address. */
const extension = createRoute({
  getParentRoute: () => root,
  path: '/extension',
  component: lazyRouteComponent(() => import('./pages/connect/ExtensionPage.tsx')),
})

const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  component: lazyRouteComponent(() => import('./pages/sign-in/ResetPage.tsx')),
})

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

const conversions = createRoute({
  getParentRoute: () => shell,
  path: '/analytics/conversions',
  validateSearch: parseConversionsSearch,
  component: lazyRouteComponent(() => import('./pages/conversions/ConversionsPage.tsx')),
})

/** What the form begins with. */
type NewLinkSearch = {
  readonly url?: string | undefined
  /** What another app shares, with an address in it. */
  readonly text?: string | undefined
  readonly key?: string | undefined
  readonly domain?: string | undefined
  /** The link that it is a copy of. */
  readonly from?: string | undefined
}

const newLink = createRoute({
  getParentRoute: () => shell,
  path: '/links/new',
  validateSearch: ({ url, text, key, domain, from }): NewLinkSearch => ({
    url: textOf(url),
    text: textOf(text),
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

const linkRules = createRoute({
  getParentRoute: () => shell,
  path: '/links/$linkId/rules',
  component: lazyRouteComponent(() => import('./pages/rules/RulesPage.tsx')),
})

const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/settings/webhooks/$webhookId',
  component: lazyRouteComponent(() => import('./pages/webhooks/WebhookPage.tsx')),
})

const ruleSet = createRoute({
  getParentRoute: () => shell,
  path: '/settings/rule-sets/$setId',
  component: lazyRouteComponent(() => import('./pages/rules/RuleSetPage.tsx')),
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
  authorize,
  extension,
  reset,
  firstLink,
  shell.addChildren([
    home,
    noWorkspace,
    links,
    newLink,
    link,
    editLink,
    linkRules,
    ruleSet,
    webhook,
    domains,
    analytics,
    conversions,
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
