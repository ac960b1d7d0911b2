import { useRouter } from '@tanstack/react-router'

/**
 * Leads back to where the person was, with filters, page and scroll. Where the dashboard was opened at this page, it
 * leads to a link, or to all of them.
 */
export function useReturn(linkId?: string): () => void {
  const router = useRouter()
  return () => {
    if (router.history.canGoBack()) router.history.back()
    else if (linkId === undefined) void router.navigate({ to: '/links' })
    else void router.navigate({ to: '/links/$linkId', params: { linkId } })
  }
}
