import { Link } from '@tanstack/react-router'
import type { LinkFilter } from '../../api/link-filter.ts'
import { AddIcon } from '../../icons/index.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { daysText } from './CreatedFilter.tsx'

/** Says what was searched, and offers to clear the filters or to create that key. */
export function NoMatch({ filter }: { filter: LinkFilter }) {
  const t = useText()
  const formats = useFormats()
  const { search, domain = [], tag = [], state, url, created_from: from, created_to: to } = filter
  const created = daysText({ from, to }, formats, t)
  const stateName = state && t.links.states[state]
  const parts = [search, ...domain, created, ...tag, stateName, url].filter(
    (part): part is string => part !== undefined,
  )
  const key = filter.search !== undefined && /^[\p{L}\p{N}._~-]+$/u.test(filter.search)
  return (
    <div className="empty">
      <div>
        <div className="grid gap-1">
          <h2>{t.links.noMatch}</h2>
          <p className="muted">
            {t.links.noMatchHint(formats.list(parts.map((one) => `“${one}”`)))}
          </p>
        </div>
        <div className="flex gap-2 flex-wrap">
          <Link to="/links" className={buttonClass({})}>
            {t.links.clearFilters}
          </Link>
          {key && (
            <Link
              to="/links/new"
              search={{ key: filter.search }}
              className={buttonClass({ look: 'bare', className: 'max-w-full' })}
            >
              <ButtonContent icon={AddIcon}>
                <span className="cut">{t.links.createKey(filter.search ?? '')}</span>
              </ButtonContent>
            </Link>
          )}
        </div>
      </div>
    </div>
  )
}
