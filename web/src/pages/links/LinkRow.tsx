import { Link, useNavigate } from '@tanstack/react-router'
import { memo } from 'react'
import type { LinkResource } from '../../api/links.ts'
import type { Sparkline } from '../../api/sparklines.ts'
import { visitAddress } from '../../api/visit-address.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ExpiredIcon, LockIcon, MoreIcon, PhoneIcon, WarningIcon } from '../../icons/index.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Destination } from '../../widgets/Destination.tsx'
import { LinkName } from '../../widgets/LinkName.tsx'
import { menuTrigger } from '../../widgets/menu-trigger.ts'
import { Sparkline as SparklineBars } from '../../widgets/Sparkline.tsx'
import { Ago, Day } from '../../widgets/Time.tsx'
import type { Column } from './columns.ts'
import { linkMenu } from './link-menu.ts'
import { rowIndexOf } from './row-focus.ts'
import { select } from './selection.ts'

/** How many tags of a link with more are shown: as many as a column is wide. */
const TAGS_SHOWN = 2

type LinkRowProps = {
  readonly link: LinkResource
  /** Undefined until it is loaded. */
  readonly sparkline: Sparkline | undefined
  readonly columns: ReadonlySet<Column>
  readonly isSelected: boolean
  /** Whether it does not work because of its domain. */
  readonly isUnproved: boolean
  readonly mayWrite: boolean
}

export const LinkRow = memo(function LinkRow(props: LinkRowProps) {
  const { link, sparkline, columns, isSelected, isUnproved, mayWrite } = props
  const t = useText()
  const formats = useFormats()
  const name = `${link.domain}/${link.key}`
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
          <Flags link={link} isUnproved={isUnproved} />
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
          <button
            className="ib"
            type="button"
            aria-label={t.links.actionsFor(link.key)}
            {...menuTrigger((opening) =>
              linkMenu.set({ ...opening, link, rowIndex: rowIndexOf(link.id) }),
            )}
            // Arrow keys move between rows.
            onKeyDown={undefined}
            tabIndex={-1}
          >
            <Icon of={MoreIcon} />
          </button>
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

/** What is special about the link, after its key. */
function Flags({ link, isUnproved }: { link: LinkResource; isUnproved: boolean }) {
  const t = useText()
  const isExpired = link.expires_at !== null && new Date(link.expires_at) <= new Date()
  return (
    <span className="flags">
      {isUnproved && (
        <span className="warn">
          <Icon of={WarningIcon} label={t.link.notWorking(link.domain)} />
        </span>
      )}
      {link.password !== null && <Icon of={LockIcon} label={t.links.protected} />}
      {isExpired && <Icon of={ExpiredIcon} label={t.links.expired} />}
      {(link.ios !== null || link.android !== null) && (
        <Icon of={PhoneIcon} label={t.links.targets} />
      )}
    </span>
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
