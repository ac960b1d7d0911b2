import { Link } from '@tanstack/react-router'
import { useText } from '../../text/use-text.ts'

/** Leads from the tags to the UTM templates and back. */
export function TagsTabs() {
  const t = useText()
  const props = { activeOptions: { exact: true, includeSearch: false } }
  return (
    <nav className="seg" aria-label={t.tags.view}>
      <Link to="/tags" {...props} activeProps={{ 'aria-current': 'page' }}>
        {t.tags.title}
      </Link>
      <Link to="/tags/utm-templates" {...props} activeProps={{ 'aria-current': 'page' }}>
        {t.utmTemplates.title}
      </Link>
    </nav>
  )
}
