import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { instanceQuery } from '../api/instance.ts'
import { outage } from '../api/request.ts'
import type { Role } from '../api/session.ts'
import { usageQuery } from '../api/workspaces.ts'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import {
  AddIcon,
  AnalyticsIcon,
  ChevronsUpDownIcon,
  DarkThemeIcon,
  DomainIcon,
  InfoIcon,
  LightThemeIcon,
  LinkIcon,
  MoreIcon,
  ProfileIcon,
  SettingsIcon,
  SignOutIcon,
  TagIcon,
  WarningIcon,
} from '../icons/index.ts'
import { useObservable } from '../state/observable.ts'
import { setTheme, THEMES, theme, usePreference, useShownTheme } from '../state/preference.ts'
import type { Catalogue } from '../text/en.ts'
import { LANGUAGE_CHOICES, languageChoice, languageName, setLanguage } from '../text/language.ts'
import { useFormats, useText } from '../text/use-text.ts'
import { Avatar } from '../widgets/Avatar.tsx'
import { IconButton } from '../widgets/Button.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../widgets/Menu.tsx'
import { instanceProblems } from './instance-problems.ts'
import { Brand, LICENCES_ADDRESS } from './SoloPage.tsx'
import { useChangeWorkspace, useMembership, useSignOut } from './use-membership.ts'

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

/** The health of the instance, shown to operators only. */
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

const PLACES_BEFORE_CREATE = 2

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
      {links.slice(0, PLACES_BEFORE_CREATE)}
      <Link to="/links/new" aria-label={t.shell.createLink}>
        <span className="plus">
          <Icon of={AddIcon} />
        </span>
      </Link>
      {links.slice(PLACES_BEFORE_CREATE)}
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

/**
 * Shows the workspace, and leads to the others.
 *
 * @param isInBar for the top bar of narrow windows, which have no sidebar
 */
export function WorkspaceMenu({ isInBar = false }: { readonly isInBar?: boolean }) {
  const t = useText()
  const { membership, session } = useMembership()
  const change = useChangeWorkspace()
  const name = membership?.workspace_title ?? ''

  const trigger = (
    <button className={isInBar ? 'ws in-bar' : 'ws'} type="button">
      <span className="sr">{t.shell.workspace}</span>
      <span className="ava" aria-hidden>
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="cut">{name}</span>
      <Icon of={ChevronsUpDownIcon} small />
    </button>
  )
  return (
    <Menu trigger={trigger} align="start">
      <MenuChoice
        label={t.shell.workspace}
        value={membership?.workspace_id ?? ''}
        choices={session.memberships.map((one) => [one.workspace_id, one.workspace_title] as const)}
        onChange={change}
      />
    </Menu>
  )
}

/** The person, with theme, language and the way out. */
function AccountMenu() {
  const t = useText()
  const { name } = useMembership().session.person
  const trigger = (
    <button className="me" type="button">
      <span className="sr">{t.shell.account}</span>
      <Avatar name={name} isOwn />
      <span className="grow cut text-left">{name}</span>
    </button>
  )
  return (
    <Menu trigger={trigger} align="start" side="top">
      <AccountItems />
    </Menu>
  )
}

function AccountItems() {
  const t = useText()
  const signOut = useSignOut()
  const chosenTheme = usePreference(theme)
  const chosenLanguage = usePreference(languageChoice)
  const languages = LANGUAGE_CHOICES.map((one) => [one, languageName(one, t)] as const)
  return (
    <>
      <MenuChoice
        label={t.shell.theme}
        value={chosenTheme}
        choices={THEMES.map((one) => [one, t.shell.themes[one]] as const)}
        onChange={setTheme}
      />
      <MenuSeparator />
      <MenuChoice
        label={t.shell.language}
        value={chosenLanguage}
        choices={languages}
        onChange={setLanguage}
      />
      <MenuSeparator />
      <MenuItem icon={ProfileIcon} render={<Link to="/settings/profile" />}>
        {t.settings.pages.profile}
      </MenuItem>
      <MenuItem icon={InfoIcon} render={<a href={LICENCES_ADDRESS} />}>
        {t.shell.licences}
      </MenuItem>
      <MenuItem icon={SignOutIcon} onSelect={signOut}>
        {t.shell.signOut}
      </MenuItem>
    </>
  )
}

type Place = {
  readonly to: '/links' | '/domains' | '/analytics' | '/tags' | '/settings'
  readonly icon: IconNode
  readonly name: (text: Catalogue) => string
}

/** The pages of the sidebar, the bottom bar and the palette, in their order. A page adds itself here. */
export const PLACES: readonly Place[] = [
  { to: '/links', icon: LinkIcon, name: (text) => text.shell.links },
  { to: '/analytics', icon: AnalyticsIcon, name: (text) => text.shell.analytics },
  { to: '/domains', icon: DomainIcon, name: (text) => text.shell.domains },
  { to: '/tags', icon: TagIcon, name: (text) => text.shell.tags },
  { to: '/settings', icon: SettingsIcon, name: (text) => text.shell.settings },
]

/** The bottom bar of phones has two places on each side of Create; the others are in its menu. */
const BOTTOM_PLACES_MAX = 3

export type SettingsPlace = {
  readonly to:
    | '/settings/general'
    | '/settings/members'
    | '/settings/labels'
    | '/settings/rule-sets'
    | '/settings/connect'
    | '/settings/webhooks'
    | '/settings/audit'
    | '/settings/imports'
    | '/settings/profile'
    | '/settings/security'
    | '/settings/sessions'
    | '/settings/instance'
    | '/settings/people'
    | '/settings/workspaces'
  readonly group: 'workspace' | 'you' | 'operator'
  readonly name: keyof Catalogue['settings']['pages']
  /** The least role in the workspace; undefined for what belongs to no workspace. */
  readonly role?: Role
}

/** The pages of the settings, in their order. */
export const SETTINGS_PLACES: readonly SettingsPlace[] = [
  { to: '/settings/general', group: 'workspace', name: 'general', role: 'viewer' },
  { to: '/settings/members', group: 'workspace', name: 'members', role: 'admin' },
  { to: '/settings/labels', group: 'workspace', name: 'labels', role: 'viewer' },
  { to: '/settings/rule-sets', group: 'workspace', name: 'ruleSets', role: 'viewer' },
  { to: '/settings/connect', group: 'workspace', name: 'connect', role: 'viewer' },
  { to: '/settings/webhooks', group: 'workspace', name: 'webhooks', role: 'admin' },
  { to: '/settings/audit', group: 'workspace', name: 'audit', role: 'admin' },
  { to: '/settings/imports', group: 'workspace', name: 'imports', role: 'member' },
  { to: '/settings/profile', group: 'you', name: 'profile' },
  { to: '/settings/security', group: 'you', name: 'security' },
  { to: '/settings/sessions', group: 'you', name: 'sessions' },
  { to: '/settings/instance', group: 'operator', name: 'instance' },
  { to: '/settings/people', group: 'operator', name: 'people' },
  { to: '/settings/workspaces', group: 'operator', name: 'workspaces' },
]

/** Whether the person may see a page of the settings. */
export function useMaySee(): (place: SettingsPlace) => boolean {
  const { session, may } = useMembership()
  return ({ group, role }) =>
    group === 'operator' ? session.person.is_operator : role === undefined || may(role)
}
