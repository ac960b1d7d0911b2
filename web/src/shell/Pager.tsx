import { Link, Navigate } from '@tanstack/react-router'
import type { PageMeta } from '@terse/contract/pagination'
import type { IconNode } from '../icons/Icon.tsx'
import { Icon } from '../icons/Icon.tsx'
import { ChevronLeftIcon, ChevronRightIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { pagesAround } from './pages-around.ts'

/** The first page has no number in its address: else the router would take it for current on all others. */
const EXACT = { exact: true }

type PagerProps = {
  readonly meta: PageMeta
  readonly page: number
  /** Whether all of this page is about to be deleted, and already out of sight. */
  readonly isEmptied?: boolean
}

/** Leads to the pages of a list, whose number is `page` in the address; to the last one in place of one behind it. */
export function Pager({ meta, page, isEmptied = false }: PagerProps) {
  const t = useText()
  const { from, to, total, last_page } = meta
  const last = isEmptied && page === last_page ? Math.max(1, last_page - 1) : last_page
  // Until a page has come, the one before is shown, whose number differs.
  if (page > last && meta.current_page === page) {
    return <Navigate to="." search={searchOf(last)} replace />
  }
  return (
    <div className="pager">
      {from !== null && to !== null && (
        <span>
          <b>{t.links.range(from, to)}</b> {t.links.of(total)}
        </span>
      )}
      {last > 1 && (
        <nav className="pages" aria-label={t.links.pages}>
          <Step
            icon={ChevronLeftIcon}
            label={t.links.previousPage}
            to={page > 1 ? page - 1 : undefined}
          />
          {pagesAround(page, last).map((one, nth) =>
            one === undefined ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a gap has no other name
              <span key={`gap-${nth}`} className="pg wide" aria-hidden>
                …
              </span>
            ) : (
              <PageLink key={one} page={one} isCurrent={one === page} />
            ),
          )}
          <Step
            icon={ChevronRightIcon}
            label={t.links.nextPage}
            to={page < last ? page + 1 : undefined}
          />
        </nav>
      )}
    </div>
  )
}

function PageLink({ page, isCurrent }: { page: number; isCurrent: boolean }) {
  const t = useText()
  return (
    <Link
      to="."
      search={searchOf(page)}
      activeOptions={EXACT}
      className={isCurrent ? 'pg' : 'pg wide'}
      aria-label={t.links.page(page)}
      aria-current={isCurrent ? 'page' : undefined}
    >
      {page}
    </Link>
  )
}

type StepProps = {
  readonly icon: IconNode
  readonly label: string
  readonly to: number | undefined
}

function Step({ icon, label, to }: StepProps) {
  if (to === undefined) {
    return (
      <span className="pg" aria-disabled="true">
        <Icon of={icon} />
      </span>
    )
  }
  return (
    <Link to="." search={searchOf(to)} activeOptions={EXACT} className="pg" aria-label={label}>
      <Icon of={icon} />
    </Link>
  )
}

function searchOf(page: number) {
  return <T extends object>(before: T) => ({ ...before, page: page === 1 ? undefined : page })
}
