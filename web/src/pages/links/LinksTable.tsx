import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue, useEffect, useRef } from 'react'
import type { LinkSort } from '../../api/link-filter.ts'
import type { LinkResource } from '../../api/links.ts'
import { sparklinesQuery } from '../../api/sparklines.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ArrowDownIcon, ArrowUpIcon } from '../../icons/index.ts'
import { useKeyHint, useShortcut } from '../../shell/shortcuts.ts'
import { useIsUnproved } from '../../shell/use-is-unproved.ts'
import { usePreference } from '../../state/preference.ts'
import { useText } from '../../text/use-text.ts'
import { Skeleton } from '../../widgets/Loading.tsx'
import { type Column, columns } from './columns.ts'
import { LinkRow } from './LinkRow.tsx'
import { onRowFocus, onRowKey, takeWantedFocus } from './row-focus.ts'
import { select, useSelection } from './selection.ts'

const SKELETON_ROWS = 12

const route = getRouteApi('/shell/links')

type LinksTableProps = {
  readonly links: readonly LinkResource[]
  readonly sort: LinkSort
  /** Whether the links of another page are shown until this one has come. */
  readonly isStale: boolean
  readonly mayWrite: boolean
}

/** A table; cards on phones. `J`, `K` and the arrow keys move through it, and Tab from row to row. */
export function LinksTable({ links, sort, isStale, mayWrite }: LinksTableProps) {
  const t = useText()
  const body = useRef<HTMLTableSectionElement>(null)
  const shown = usePreference(columns)
  const selected = useSelection()
  const isUnproved = useIsUnproved()
  useRowKeys(body)
  const ids = links.map(({ id }) => id)
  useEffect(takeWantedFocus)
  const { data } = useQuery({
    ...sparklinesQuery(ids),
    enabled: shown.has('clicks') && ids.length > 0,
  })
  // All rows change with it: the browser can interrupt that.
  const sparklines = useDeferredValue(data)
  const selectedHere = ids.filter((id) => selected.has(id)).length
  return (
    <table className="tbl selecting" aria-busy={isStale}>
      <caption className="sr">{t.links.caption(t.links.sorts[sort])}</caption>
      <thead>
        <tr>
          <th scope="col" className="c-sel">
            <input
              className={`cb ${selectedHere > 0 && selectedHere < ids.length ? 'part' : ''}`}
              type="checkbox"
              aria-label={t.links.selectAllHere}
              checked={ids.length > 0 && selectedHere === ids.length}
              onChange={(event) => select(ids, event.target.checked)}
            />
          </th>
          <th scope="col" className="c-short">
            {t.links.shortLink}
          </th>
          {shown.has('destination') && (
            <th scope="col" className="c-dest">
              {t.links.column.destination}
            </th>
          )}
          {shown.has('tags') && (
            <th scope="col" className="c-tags">
              {t.links.column.tags}
            </th>
          )}
          {shown.has('clicks') && (
            <th scope="col" className="c-spark">
              {t.links.sparklineDays}
            </th>
          )}
          {shown.has('clicks') && <SortHead column="clicks" className="c-clicks" sort={sort} />}
          {shown.has('last_click') && (
            <SortHead column="last_click" className="c-last" sort={sort} />
          )}
          {shown.has('created_at') && (
            <SortHead column="created_at" className="c-made" sort={sort} />
          )}
          <th scope="col" className="c-menu">
            <span className="sr">{t.links.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody ref={body} onFocus={onRowFocus} onKeyDown={onRowKey}>
        {links.map((link) => (
          <LinkRow
            key={link.id}
            link={link}
            sparkline={sparklines?.get(link.id)}
            columns={shown}
            isSelected={selected.has(link.id)}
            isUnproved={isUnproved(link.domain)}
            mayWrite={mayWrite}
          />
        ))}
      </tbody>
    </table>
  )
}

type SortHeadProps = {
  readonly column: Extract<Column, LinkSort>
  readonly className: string
  readonly sort: LinkSort
}

/** Sorts by its column, the largest first; again, the smallest first. */
function SortHead({ column, className, sort }: SortHeadProps) {
  const t = useText()
  const navigate = route.useNavigate()
  const isDown = sort === `-${column}`
  const isUp = sort === column
  const next: LinkSort = isDown ? column : `-${column}`
  const order = isDown ? 'descending' : isUp ? 'ascending' : undefined
  return (
    <th scope="col" className={`num ${className}`} aria-sort={order}>
      <button
        type="button"
        className={order === undefined ? 'idle' : ''}
        onClick={() =>
          void navigate({ search: (before) => ({ ...before, sort: next, page: undefined }) })
        }
      >
        {t.links.column[column]}
        {order !== undefined && <Icon of={isDown ? ArrowDownIcon : ArrowUpIcon} />}
      </button>
    </th>
  )
}

/** Moves the focus from row to row. The other keys act on the row with the focus, or below the pointer. */
function useRowKeys(body: React.RefObject<HTMLTableSectionElement | null>): void {
  const rows = () => [...(body.current?.rows ?? [])]
  const current = () => {
    const all = rows()
    const focused = all.findIndex((row) => row.contains(document.activeElement))
    return focused === -1 ? all.findIndex((row) => row.matches(':hover')) : focused
  }
  const move = (step: number) => {
    const all = rows()
    const at = current()
    const next = all[at === -1 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))]
    next?.querySelector<HTMLElement>('.short a')?.focus()
  }
  const click = (selector: string) => () =>
    rows()[current()]?.querySelector<HTMLElement>(selector)?.click()
  useShortcut(
    'j',
    (text) => text.shortcuts.next,
    () => move(1),
  )
  useShortcut(
    'k',
    (text) => text.shortcuts.previous,
    () => move(-1),
  )
  useKeyHint('↑ ↓', (text) => text.shortcuts.rows)
  useKeyHint('← →', (text) => text.shortcuts.alongRow)
  useKeyHint('Home End', (text) => text.shortcuts.rowEnds)
  useShortcut('x', (text) => text.shortcuts.select, click('.cb'))
  useShortcut('y', (text) => text.shortcuts.copy, click('.short .ib'))
  useShortcut('e', (text) => text.common.edit, click('.row-edit'))
  useShortcut('d', (text) => text.links.duplicate, click('.row-copy'))
}

export function LinksSkeleton() {
  const t = useText()
  const row = (cells: ReactNode, nth: number) => <tr key={nth}>{cells}</tr>
  return (
    <table className="tbl" aria-busy>
      <caption className="sr">{t.common.loading}</caption>
      <tbody>
        {Array.from({ length: SKELETON_ROWS }, (_, nth) =>
          row(
            <>
              <td className="c-sel" />
              <td className="c-short">
                <Skeleton width={120 + ((nth * 37) % 80)} />
              </td>
              <td className="c-dest">
                <Skeleton width={140 + ((nth * 53) % 100)} />
              </td>
              <td className="c-clicks num">
                <Skeleton width={36} />
              </td>
            </>,
            nth,
          ),
        )}
      </tbody>
    </table>
  )
}
