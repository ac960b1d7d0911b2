import { Link } from '@tanstack/react-router'
import { useText } from '../../text/use-text.ts'

/** Leads from clicks to conversions and back: of the same links, in the same period. */
export function AnalyticsViews() {
  const t = useText()
  // The page leaves out what it does not know.
  const props = {
    search: ((before: object) => before) as never,
    activeOptions: { exact: true, includeSearch: false },
    activeProps: { 'aria-current': 'page' },
  } as const
  return (
    <nav className="views" aria-label={t.conversions.views}>
      <Link to="/analytics" {...props}>
        {t.analytics.measures.clicks}
      </Link>
      <Link to="/analytics/conversions" {...props}>
        {t.conversions.title}
      </Link>
    </nav>
  )
}
