const LENGTH_MAX = 500

/** Where people arrive who asked for no other page. */
const HOME_PATH = '/app/'

/**
 * Returns the path of a page of the dashboard, for a redirect after sign-in. Anything else becomes its first
 * page: other origins, and other paths of the service's host, which may be short links to anywhere.
 */
export function localPath(text: string | undefined, baseUrl: string): string {
  if (text === undefined || text.length > LENGTH_MAX || !/^\/app(?:[/?#]|$)/.test(text)) {
    return HOME_PATH
  }
  const url = URL.parse(text, baseUrl)
  if (url === null || url.origin !== new URL(baseUrl).origin) return HOME_PATH
  const isDashboard = url.pathname === '/app' || url.pathname.startsWith('/app/')
  // A way through the provider again would begin a loop.
  if (!isDashboard || url.pathname.startsWith('/app/oidc/')) return HOME_PATH
  return `${url.pathname}${url.search}${url.hash}`
}
