import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { type LinkResource, visitAddress } from '../../api/links.ts'
import {
  CopyIcon,
  DuplicateIcon,
  EditIcon,
  ExternalIcon,
  InfoIcon,
  TrashIcon,
} from '../../icons/index.ts'
import { Observable, useObservable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { copyWithMessage } from '../../widgets/copy.ts'
import { MenuItem, MenuSeparator, OpenedMenu, type Opening } from '../../widgets/Menu.tsx'
import { useDeleteLink } from './deleted-links.ts'
import { linkAt } from './row-focus.ts'

type LinkMenuOpening = Opening & { readonly link: LinkResource; readonly rowIndex: number }

/** The menu of the rows of links: of which link it was opened, in which row. */
export const linkMenu = new Observable<LinkMenuOpening | undefined>(undefined)

/** What can be done with the link of a row; one menu for all rows. */
export function LinkMenu({ mayWrite }: { mayWrite: boolean }) {
  const opening = useObservable(linkMenu)
  useEffect(() => () => linkMenu.set(undefined), [])
  if (opening === undefined) return null
  return (
    <OpenedMenu
      opening={opening}
      onClose={() => linkMenu.set({ ...opening, isOpen: false })}
      successor={() => linkAt(opening.rowIndex)}
    >
      <LinkActs link={opening.link} mayWrite={mayWrite} />
    </OpenedMenu>
  )
}

function LinkActs({ link, mayWrite }: { link: LinkResource; mayWrite: boolean }) {
  const t = useText()
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
          <MenuItem icon={TrashIcon} isDangerous onSelect={() => remove(link)}>
            {t.common.delete}
          </MenuItem>
        </>
      )}
    </>
  )
}
