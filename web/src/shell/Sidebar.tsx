import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { outage } from '../api/availability.ts'
import { usageQuery } from '../api/workspaces.ts'
import { Icon } from '../icons/Icon.tsx'
import { WarningIcon } from '../icons/index.ts'
import { useObservable } from '../state/observable.ts'
import { useFormats, useText } from '../text/use-text.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { Brand } from './Brand.tsx'
import { PLACES } from './navigation.ts'
import { useMembership } from './use-membership.ts'
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
            <Count of={to} />
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

/** How many links there are, and how many domains are not proved yet. */
function Count({ of: place }: { of: string }) {
  const t = useText()
  const formats = useFormats()
  const { membership } = useMembership()
  const { data: usage } = useQuery({ ...usageQuery, enabled: membership !== undefined })
  if (usage === undefined) return null
  const pending = usage.pending_domains.used
  if (place === '/links') return <span className="n">{formats.number(usage.links.used)}</span>
  if (place !== '/domains' || pending === 0) return null
  return (
    <span className="n alert">
      <Icon of={WarningIcon} small label={t.domains.states.pending} />
      {formats.number(pending)}
    </span>
  )
}
