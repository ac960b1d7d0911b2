import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { type DetailedLink, visitAddress } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  ArchiveIcon,
  CopyIcon,
  DuplicateIcon,
  EditIcon,
  ExternalIcon,
  InfoIcon,
  MoreIcon,
  TrashIcon,
  UnarchiveIcon,
} from '../../icons/index.ts'
import { Observable, useObservable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { copyWithMessage } from '../../widgets/CopyButton.tsx'
import { AnchoredMenu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { type ArchivingOptions, useArchiving } from './archived-links.ts'
import { useDeleteLink } from './deleted-links.ts'
import { linkAt, rowIndexOf } from './row-state.ts'

type LinkMenuOpening = {
  readonly link: DetailedLink
  readonly rowIndex: number
  /** The button of the row. */
  readonly anchor: HTMLElement
  readonly isOpen: boolean
  readonly isByKey: boolean
}

/** The menu of the rows of links: of which link it was opened, in which row. */
const linkMenu = new Observable<LinkMenuOpening | undefined>(undefined)

/** In a row of the list. */
export function LinkMenuButton({ link }: { link: DetailedLink }) {
  const t = useText()
  return (
    <button
      className="ib"
      type="button"
      aria-label={t.links.actionsFor(link.key)}
      aria-haspopup="menu"
      aria-expanded={false}
      tabIndex={-1}
      onClick={({ currentTarget: anchor, detail }) =>
        // The click of a key has no count.
        linkMenu.set({
          link,
          rowIndex: rowIndexOf(link.id),
          anchor,
          isOpen: true,
          isByKey: detail === 0,
        })
      }
    >
      <Icon of={MoreIcon} />
    </button>
  )
}

type LinkMenuProps = {
  readonly mayWrite: boolean
  readonly archiving: ArchivingOptions
}

/** What can be done with the link of a row; one menu for all rows. */
export function LinkMenu(props: LinkMenuProps) {
  const opening = useObservable(linkMenu)
  useEffect(() => () => linkMenu.set(undefined), [])
  if (opening === undefined) return null
  const { link, rowIndex, ...place } = opening
  return (
    <AnchoredMenu
      {...place}
      successor={() => linkAt(rowIndex)}
      onClose={() => linkMenu.set({ ...opening, isOpen: false })}
    >
      <LinkActs link={link} {...props} />
    </AnchoredMenu>
  )
}

function LinkActs({ link, mayWrite, archiving }: LinkMenuProps & { link: DetailedLink }) {
  const t = useText()
  const { archive } = useArchiving()
  const { archived: isArchived } = link.options
  const remove = useDeleteLink()
  const params = { linkId: link.id }
  return (
    <>
      <MenuItem
        icon={CopyIcon}
        shortcut="Y"
        onSelect={() => void copyWithMessage(visitAddress(link), t)}
      >
        {t.links.copyLink}
      </MenuItem>
      <MenuItem
        icon={ExternalIcon}
        render={<a href={visitAddress(link)} target="_blank" rel="noreferrer" />}
      >
        {t.shortcuts.open}
      </MenuItem>
      <MenuItem icon={InfoIcon} render={<Link to="/links/$linkId" params={params} />}>
        {t.links.details}
      </MenuItem>
      {mayWrite && (
        <>
          <MenuItem
            icon={EditIcon}
            shortcut="E"
            render={<Link to="/links/$linkId/edit" params={params} />}
          >
            {t.common.edit}
          </MenuItem>
          <MenuItem
            icon={DuplicateIcon}
            shortcut="D"
            render={<Link to="/links/new" search={{ from: link.id }} />}
          >
            {t.links.duplicate}
          </MenuItem>
          <MenuSeparator />
          <MenuItem
            icon={isArchived ? UnarchiveIcon : ArchiveIcon}
            onSelect={() => void archive(link, !isArchived, archiving)}
          >
            {isArchived ? t.links.unarchive : t.links.archive}
          </MenuItem>
          <DeleteItem link={link} onSelect={() => remove(link)} />
        </>
      )}
    </>
  )
}

type DeleteItemProps = {
  readonly link: DetailedLink
  readonly onSelect: () => void
}

/** Says beforehand that a link must not be deleted. */
export function DeleteItem({ link, onSelect }: DeleteItemProps) {
  const t = useText()
  const isPrevented = link.options.prevent_delete
  return (
    <MenuItem icon={TrashIcon} isDangerous={!isPrevented} onSelect={onSelect}>
      {t.common.delete}
      {isPrevented && <span className="ml-auto pl-4 hint">{t.managed.deletions.refused}</span>}
    </MenuItem>
  )
}
