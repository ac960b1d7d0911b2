import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { instanceQuery } from '../api/instance.ts'
import { outage } from '../api/request.ts'
import { usageQuery } from '../api/workspaces.ts'
import { Icon } from '../icons/Icon.tsx'
import { DarkThemeIcon, LightThemeIcon, WarningIcon } from '../icons/index.ts'
import { useObservable } from '../state/observable.ts'
import { setTheme, useShownTheme } from '../state/theme.ts'
import { useFormats, useText } from '../text/use-text.ts'
import { IconButton } from '../widgets/Button.tsx'
import { AccountMenu } from './AccountMenu.tsx'
import { Brand } from './Brand.tsx'
import { instanceProblems } from './instance-problems.ts'
import { PLACES } from './navigation.ts'
import { useMembership } from './use-membership.ts'
import { WorkspaceMenu } from './WorkspaceMenu.tsx'

export function Sidebar() {
  const t = useText()
  const { person } = useMembership().session
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
        {person.is_operator && <InstanceStatus />}
        <div className="me-line">
          <AccountMenu />
          <ThemeToggle />
        </div>
      </div>
    </aside>
  )
}

/** How the instance is, which operators alone can know. */
function InstanceStatus() {
  const t = useText()
  const formats = useFormats()
  const isDown = useObservable(outage) !== undefined
  const { data: instance } = useQuery(instanceQuery)
  if (isDown || instance === undefined) return null
  const isWell = instanceProblems(instance, t, formats).length === 0
  return (
    <Link to="/settings/instance" className="status-line">
      {isWell ? <span className="dot pulse" /> : <Icon of={WarningIcon} small />}
      {isWell ? t.instance.healthy : t.instance.degraded}
    </Link>
  )
}

function ThemeToggle() {
  const t = useText()
  const isDark = useShownTheme() === 'dark'
  const other = isDark ? 'light' : 'dark'
  return (
    <IconButton
      icon={isDark ? LightThemeIcon : DarkThemeIcon}
      label={t.shell.useTheme[other]}
      onClick={() => setTheme(other)}
    />
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
