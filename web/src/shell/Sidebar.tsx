import { Link } from '@tanstack/react-router'
import { outage } from '../api/availability.ts'
import { Icon } from '../icons/Icon.tsx'
import { useObservable } from '../state/observable.ts'
import { useText } from '../text/use-text.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { Brand } from './Brand.tsx'
import { PLACES } from './navigation.ts'
import { WorkspaceMenu } from './WorkspaceMenu.tsx'

export function Sidebar() {
  const t = useText()
  const isDown = useObservable(outage) !== undefined
  return (
    <aside className="side">
      <Link to="/links">
        <Brand />
      </Link>
      <WorkspaceMenu />
      <nav className="nav" aria-label={t.shell.main}>
        {PLACES.map(({ to, icon, name }) => (
          <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
            <Icon of={icon} />
            {name(t)}
          </Link>
        ))}
      </nav>
      <div className="foot">
        {!isDown && (
          <div className="status-line">
            <span className="dot pulse" />
            {t.shell.normal}
          </div>
        )}
        <AccountMenu />
      </div>
    </aside>
  )
}
