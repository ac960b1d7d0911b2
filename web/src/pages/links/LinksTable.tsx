import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { memo, type ReactNode, useDeferredValue, useEffect, useRef } from 'react'
import { type Sparkline, sparklinesQuery } from '../../api/clicks.ts'
import type { LinkSort } from '../../api/link-filter.ts'
import { type DetailedLink, visitAddress } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ArrowDownIcon, ArrowUpIcon } from '../../icons/index.ts'
import { useKeyHint, useShortcut } from '../../shell/shortcuts.ts'
import { useIsUnproved } from '../../shell/use-domains.ts'
import { Preference, usePreference } from '../../state/preference.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Destination, LinkName } from '../../widgets/LinkName.tsx'
import { Skeleton } from '../../widgets/Loading.tsx'
import { Ago, Day } from '../../widgets/Time.tsx'
import { LinkMarks, marksOf, SetMark } from './LinkMarks.tsx'
import { LinkMenuButton } from './LinkMenu.tsx'
import { onRowFocus, onRowKey, select, takeWantedFocus, useSelection } from './row-state.ts'

/** The columns that can be left out, in their order. */
export const COLUMNS = ['destination', 'tags', 'clicks', 'last_click', 'created_at'] as const
type Column = (typeof COLUMNS)[number]

/** Created is left out: the destination needs its room. */
const DEFAULT = COLUMNS.filter((column) => column !== 'created_at')

export const columns = new Preference<ReadonlySet<Column>>('link-columns', (text) => {
  if (text === null) return new Set(DEFAULT)
  const names = text.split(',')
  return new Set(COLUMNS.filter((column) => names.includes(column)))
})

export function setColumn(column: Column, isShown: boolean): void {
  const shown = COLUMNS.filter((one) => (one === column ? isShown : columns.value.has(one)))
  const text = shown.join(',')
  columns.set(text === DEFAULT.join(',') ? null : text)
}

const SKELETON_ROWS = 12

const route = getRouteApi('/shell/links')

type LinksTableProps = {
  readonly links: readonly DetailedLink[]
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

/** How many tags of a link with more are shown: as many as a column is wide. */
const TAGS_SHOWN = 2

type LinkRowProps = {
  readonly link: DetailedLink
  /** Undefined until it is loaded. */
  readonly sparkline: Sparkline | undefined
  readonly columns: ReadonlySet<Column>
  readonly isSelected: boolean
  /** Whether it does not work because of its domain. */
  readonly isUnproved: boolean
  readonly mayWrite: boolean
}

const LinkRow = memo(function LinkRow(props: LinkRowProps) {
  const { link, sparkline, columns, isSelected, isUnproved, mayWrite } = props
  const t = useText()
  const formats = useFormats()
  const name = `${link.domain}/${link.key}`
  const marks = marksOf(link, { isUnproved, now: new Date() }, t, formats)
  return (
    <tr className={isSelected ? 'row is-sel' : 'row'} data-link={link.id}>
      <td className="c-sel">
        <input
          className="cb"
          type="checkbox"
          tabIndex={-1}
          aria-label={t.links.select(name)}
          checked={isSelected}
          onChange={(event) => select([link.id], event.target.checked)}
        />
      </td>
      <td className="c-short">
        <div className="short">
          <Link to="/links/$linkId" params={{ linkId: link.id }}>
            <LinkName name={name} />
          </Link>
          <CopyButton text={visitAddress(link)} label={t.links.copyLink} tabIndex={-1} />
          <LinkMarks marks={marks} />
          <SetMark name={link.options.managed_by} />
        </div>
      </td>
      {columns.has('destination') && (
        <td className="c-dest">
          <Destination url={link.url} />
        </td>
      )}
      {columns.has('tags') && (
        <td className="c-tags">
          <Tags of={link.tags} />
        </td>
      )}
      {columns.has('clicks') && (
        <td className="c-spark">
          {sparkline !== undefined && (
            <SparklineBars
              values={sparkline.clicks}
              label={t.links.sparkline(t.common.clicks(sparkline.total))}
            />
          )}
        </td>
      )}
      {columns.has('clicks') && (
        <td className="c-clicks num">
          <b>{formats.number(link.clicks ?? 0)}</b>
          <span className="u">{t.common.clicks(link.clicks ?? 0).replace(/^\S+/, '')}</span>
        </td>
      )}
      {columns.has('last_click') && (
        <td className="c-last when num">
          {link.last_click === null ? (
            t.common.never
          ) : (
            <Ago instant={new Date(link.last_click * 1_000)} />
          )}
        </td>
      )}
      {columns.has('created_at') && (
        <td className="c-made when num">
          <Day instant={new Date(link.created_at)} />
        </td>
      )}
      <td className="c-menu">
        <div className="rowacts">
          {mayWrite && <KeyButtons linkId={link.id} />}
          <LinkMenuButton link={link} />
        </div>
      </td>
    </tr>
  )
})

/** The first ones, and how many more; all of them on hover. */
function Tags({ of: tags }: { of: readonly string[] }) {
  const t = useText()
  const formats = useFormats()
  const rest = tags.slice(TAGS_SHOWN)
  return (
    <div className="tags" title={tags.length > 0 ? formats.list(tags) : undefined}>
      {tags.slice(0, TAGS_SHOWN).map((tag) => (
        <span className="tag" key={tag}>
          {tag}
        </span>
      ))}
      {rest.length > 0 && (
        <span className="tag rest">
          <span aria-hidden>+{formats.number(rest.length)}</span>
          <span className="sr">{t.links.moreTags(formats.list(rest))}</span>
        </span>
      )}
    </div>
  )
}

/** What the shortcuts press. */
function KeyButtons({ linkId }: { linkId: string }) {
  const navigate = useNavigate()
  return (
    <>
      <button
        type="button"
        className="row-edit"
        hidden
        onClick={() => void navigate({ to: '/links/$linkId/edit', params: { linkId } })}
      />
      <button
        type="button"
        className="row-copy"
        hidden
        onClick={() => void navigate({ to: '/links/new', search: { from: linkId } })}
      />
    </>
  )
}

const HEIGHT = 22
const BAR = 5
const STEP = 6

type SparklineBarsProps = {
  /** The value of each bar, the newest last. */
  readonly values: readonly number[]
  /** The sum in words. */
  readonly label: string
}

/** Bars on their own scale; nothing is 1 px high, and the newest has the accent. */
function SparklineBars({ values, label }: SparklineBarsProps) {
  const most = Math.max(...values, 1)
  const bars = values.map((value, nth) => bar(nth * STEP, heightOf(value, most)))
  // Two elements, and not one for each bar: a list has hundreds of them.
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${values.length * STEP - (STEP - BAR)} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      <path d={bars.slice(0, -1).join('')} />
      <path className="now" d={bars.at(-1)} />
    </svg>
  )
}

function heightOf(value: number, most: number): number {
  return value === 0 ? 1 : Math.max(2, Math.round((value / most) * HEIGHT))
}

/** A bar on the ground with round corners. */
function bar(x: number, height: number): string {
  const r = Math.min(1, height / 2)
  const [across, up] = [BAR - 2 * r, height - 2 * r]
  const corner = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`
  return (
    `M${x + r} ${HEIGHT - height}h${across}${corner(r, r)}v${up}${corner(-r, r)}` +
    `h${-across}${corner(-r, -r)}v${-up}${corner(r, -r)}z`
  )
}
