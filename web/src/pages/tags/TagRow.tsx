import { Link } from '@tanstack/react-router'
import type { Tag } from '../../api/tags.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AnalyticsIcon, EditIcon, LinkIcon, MoreIcon, TrashIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { tip } from '../../widgets/tip.ts'

type TagRowProps = {
  readonly tag: Tag
  /** In the last 30 days; undefined where it is not known. */
  readonly clicks: number | undefined
  readonly isSelected: boolean
  /** Undefined for those who may not change links. */
  readonly onSelect: ((isSelected: boolean) => void) | undefined
  readonly onRename: () => void
  readonly onDelete: () => void
}

export function TagRow({ tag, clicks, isSelected, onSelect, onRename, onDelete }: TagRowProps) {
  const t = useText()
  const { name, links } = tag
  const toClicks = <Link to="/analytics" search={{ tag: [name] }} />
  const toLinks = <Link to="/links" search={{ tag: [name] }} />
  const trigger = (
    <button className="ib" type="button" aria-label={t.tags.actionsFor(name)}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <li className={isSelected ? 'tag-row is-sel' : 'tag-row'}>
      {onSelect !== undefined && (
        <input
          className="cb"
          type="checkbox"
          aria-label={t.tags.select(name)}
          checked={isSelected}
          onChange={(event) => onSelect(event.target.checked)}
        />
      )}
      <span className="grow min-w-0">
        <Link className="tag" to="/links" search={{ tag: [name] }} title={name}>
          {name}
        </Link>
      </span>
      <span className="num muted">{t.common.links(links)}</span>
      <span className="num tag-clicks">
        {clicks !== undefined && (
          <Link
            to="/analytics"
            search={{ tag: [name] }}
            aria-label={`${name}: ${t.tags.clicksOfMonth(clicks)}`}
            {...tip(t.tags.clicksOfMonth(clicks))}
          >
            {t.tags.clicks(clicks)}
          </Link>
        )}
      </span>
      <Menu trigger={trigger}>
        <MenuItem icon={LinkIcon} render={toLinks}>
          {t.tags.showLinks}
        </MenuItem>
        <MenuItem icon={AnalyticsIcon} render={toClicks}>
          {t.tags.showClicks}
        </MenuItem>
        {onSelect !== undefined && (
          <>
            <MenuItem icon={EditIcon} onSelect={onRename}>
              {t.tags.rename}
            </MenuItem>
            <MenuSeparator />
            <MenuItem icon={TrashIcon} isDangerous onSelect={onDelete}>
              {t.common.delete}
            </MenuItem>
          </>
        )}
      </Menu>
    </li>
  )
}
