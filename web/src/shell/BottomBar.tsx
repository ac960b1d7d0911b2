import { Link, useLocation } from '@tanstack/react-router'
import { Icon } from '../icons/Icon.tsx'
import { AddIcon, MoreIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Menu, MenuItem, MenuSeparator } from '../widgets/Menu.tsx'
import { AccountItems } from './AccountMenu.tsx'
import { BOTTOM_PLACES_MAX, PLACES } from './navigation.ts'

const CREATE_AT = 2

/** In place of the sidebar on phones: the first places around Create, and the rest in a menu. */
export function BottomBar() {
  const t = useText()
  const { pathname } = useLocation()
  const shown = PLACES.slice(0, BOTTOM_PLACES_MAX)
  const others = PLACES.slice(BOTTOM_PLACES_MAX)
  const links = shown.map(({ to, icon, name }) => (
    <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
      <Icon of={icon} />
      {name(t)}
    </Link>
  ))
  const isInMenu = others.some(({ to }) => pathname.startsWith(to))
  const more = (
    <button type="button" aria-current={isInMenu ? 'true' : undefined}>
      <Icon of={MoreIcon} />
      {t.common.more}
    </button>
  )
  return (
    <nav className="tabbar" aria-label={t.shell.main}>
      {links.slice(0, CREATE_AT)}
      <Link to="/links/new" aria-label={t.shell.createLink}>
        <span className="plus">
          <Icon of={AddIcon} />
        </span>
      </Link>
      {links.slice(CREATE_AT)}
      <Menu trigger={more} side="top">
        {others.map(({ to, icon, name }) => (
          <MenuItem key={to} icon={icon} render={<Link to={to} />}>
            {name(t)}
          </MenuItem>
        ))}
        {others.length > 0 && <MenuSeparator />}
        <AccountItems />
      </Menu>
    </nav>
  )
}
