import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type DomainResource, domainsQuery } from '../api/domains.ts'
import { destinationOf, type LinkResource, linkSearchQuery, visitAddress } from '../api/links.ts'
import type { IconNode } from '../icons/Icon.tsx'
import {
  AddIcon,
  AnalyticsIcon,
  ChevronsUpDownIcon,
  CopyIcon,
  DomainIcon,
  DuplicateIcon,
  EditIcon,
  ExternalIcon,
  ImportIcon,
  InviteIcon,
  KeyIcon,
  LanguageIcon,
  LinkIcon,
  ReloadIcon,
  SettingsIcon,
  SignOutIcon,
  ThemeIcon,
} from '../icons/index.ts'
import { setTheme, THEMES } from '../state/preference.ts'
import type { Catalogue } from '../text/en.ts'
import { LANGUAGE_CHOICES, languageName, setLanguage } from '../text/language.ts'
import { useText } from '../text/use-text.ts'
import { copyWithMessage } from '../widgets/CopyButton.tsx'
import { shortDestination } from '../widgets/destination-parts.ts'
import { fuzzyMatches } from './fuzzy-matches.ts'
import { PLACES, SETTINGS_PLACES, useMaySee } from './Navigation.tsx'
import { useDomainActs } from './use-domains.ts'
import { useChangeWorkspace, useMembership, useSignOut } from './use-membership.ts'

/** A line of the command palette. */
export type PaletteEntry = {
  readonly id: string
  readonly group: string
  readonly icon: IconNode
  readonly name: string
  readonly detail?: string
  readonly end?: string
  /** Words by which it is found too. */
  readonly also?: string
  /** Runs it from anywhere in the palette, as `Shortcut` names keys. */
  readonly keys?: string
  /** What the keys do, in a word. */
  readonly keysName?: string
  /** Whether it acts on the link or domain that is highlighted. */
  readonly isAct?: boolean
  /** The link or domain that it shows; undefined for acts and commands. */
  readonly subject?: string
  readonly run: () => void
}

/**
 * The entries that match what was typed: links, domains, acts on the one that was highlighted last, commands.
 *
 * @param subject the link or domain that was highlighted last; the first one where it is undefined
 */
export function usePaletteEntries(
  typed: string,
  subject: string | undefined,
  onShortcuts: () => void,
): readonly PaletteEntry[] {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const links = useFoundLinks(typed)
  const domains = usePaletteDomains(typed)
  const domain = domains.find(({ id }) => id === subject) ?? (links.length === 0 && domains[0])
  const link = domain ? undefined : (links.find(({ id }) => id === subject) ?? links[0])
  const linkActs = useLinkActs(link)
  const domainActs = usePaletteDomainActs(domain || undefined)
  const commands = useCommands(onShortcuts)
  const linkEntries = links.map((one) => ({
    ...linkEntry(one, t),
    run: () => void navigate({ to: '/links/$linkId', params: { linkId: one.id } }),
  }))
  const domainEntries = domains.map(({ id, domain: host, status }) => ({
    id,
    subject: id,
    group: t.palette.domains,
    icon: DomainIcon,
    name: host,
    end: t.domains.states[status],
    run: () => void navigate({ to: '/domains', search: { id } }),
  }))
  const matching = fuzzyMatches(typed, commands, ({ name, also = '' }) => `${name} ${also}`)
  const url = may('member') ? destinationOf(typed) : undefined
  const createTo = (destination: string): PaletteEntry => ({
    id: 'create-to',
    group: t.palette.commands,
    icon: AddIcon,
    name: t.palette.createTo(typed),
    run: () => void navigate({ to: '/links/new', search: { url: destination } }),
  })
  return [
    ...linkEntries,
    ...domainEntries,
    ...linkActs,
    ...domainActs,
    ...(url === undefined ? [] : [createTo(url)]),
    ...matching,
  ]
}

/** Until the answer comes, those of the search before that match too: Enter must open none of the others. */
function useFoundLinks(typed: string): readonly LinkResource[] {
  const { data = [], isPlaceholderData } = useQuery(linkSearchQuery(typed))
  if (!isPlaceholderData) return data
  const wanted = typed.toLowerCase()
  return data.filter(({ domain, key, url }) =>
    `${domain}/${key} ${url}`.toLowerCase().includes(wanted),
  )
}

/** What can be done with a link without opening it. */
function useLinkActs(link: LinkResource | undefined): readonly PaletteEntry[] {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  if (link === undefined) return []
  const group = t.palette.actsOn(`${link.domain}/${link.key}`)
  const params = { linkId: link.id }
  const acts: PaletteEntry[] = [
    {
      id: 'copy',
      group,
      icon: CopyIcon,
      name: t.shortcuts.copy,
      keys: 'mod+c',
      keysName: t.palette.keys.copy,
      run: () => void copyWithMessage(visitAddress(link), t),
    },
    {
      id: 'analytics-of-link',
      group,
      icon: AnalyticsIcon,
      name: t.shell.analytics,
      keys: 'mod+i',
      keysName: t.palette.keys.analytics,
      run: () => void navigate({ to: '/analytics', search: { link: [link.id] } }),
    },
    {
      id: 'open',
      group,
      icon: ExternalIcon,
      name: t.palette.openDestination,
      keys: 'mod+o',
      keysName: t.palette.keys.destination,
      run: () => void window.open(link.url, '_blank', 'noreferrer'),
    },
  ]
  const edit: PaletteEntry = {
    id: 'edit',
    group,
    icon: EditIcon,
    name: t.common.edit,
    keys: 'mod+e',
    keysName: t.palette.keys.edit,
    run: () => void navigate({ to: '/links/$linkId/edit', params }),
  }
  const duplicate: PaletteEntry = {
    id: 'duplicate',
    group,
    icon: DuplicateIcon,
    name: t.links.duplicate,
    run: () => void navigate({ to: '/links/new', search: { from: link.id } }),
  }
  const allowed = may('member') ? [edit, ...acts, duplicate] : acts
  return allowed.map((act) => ({ ...act, isAct: true }))
}

function linkEntry(link: LinkResource, t: Catalogue): Omit<PaletteEntry, 'run'> {
  return {
    id: link.id,
    subject: link.id,
    group: t.palette.links,
    icon: LinkIcon,
    name: `${link.domain}/${link.key}`,
    detail: shortDestination(link.url),
    ...(link.clicks !== null && { end: t.common.clicks(link.clicks) }),
  }
}

const SHOWN_MAX = 4

/** The domains whose name matches what was typed; none while nothing is. */
function usePaletteDomains(typed: string): readonly DomainResource[] {
  const { data: domains = [] } = useQuery({ ...domainsQuery, enabled: typed !== '' })
  if (typed === '') return []
  return fuzzyMatches(typed, domains, ({ domain }) => domain).slice(0, SHOWN_MAX)
}

/** What can be done with a domain without opening it. */
function usePaletteDomainActs(domain: DomainResource | undefined): readonly PaletteEntry[] {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const { verify, copyRecords } = useDomainActs()
  if (domain === undefined) return []
  const { id, domain: host } = domain
  const check = {
    id: 'check-domain',
    icon: ReloadIcon,
    name: t.domains.check,
    run() {
      void navigate({ to: '/domains', search: { id } })
      void verify(id)
    },
  }
  const create = {
    id: 'create-on',
    icon: AddIcon,
    name: t.palette.createOn(host),
    run: () => void navigate({ to: '/links/new', search: { domain: host } }),
  }
  const acts = [
    ...(may('admin') ? [check] : []),
    { id: 'records', icon: CopyIcon, name: t.palette.records, run: () => void copyRecords(id) },
    ...(may('member') ? [create] : []),
    {
      id: 'links-of-domain',
      icon: LinkIcon,
      name: t.domains.showLinks,
      run: () => void navigate({ to: '/links', search: { domain: [host] } }),
    },
    {
      id: 'analytics-of-domain',
      icon: AnalyticsIcon,
      name: t.shell.analytics,
      run: () => void navigate({ to: '/analytics', search: { domain: id } }),
    },
  ]
  return acts.map((act) => ({ ...act, group: t.palette.actsOn(host), isAct: true }))
}

type Command = Pick<PaletteEntry, 'id' | 'icon' | 'name' | 'also' | 'run'>

/** What can be done from everywhere, as the role allows. */
function useCommands(onShortcuts: () => void): readonly PaletteEntry[] {
  const t = useText()
  const makes = useMakeCommands()
  const goes = useGoCommands()
  const signOut = useSignOut()
  const commands: Command[] = [
    ...makes,
    ...goes,
    ...THEMES.map((theme) => ({
      id: `theme-${theme}`,
      icon: ThemeIcon,
      name: `${t.shell.theme}: ${t.shell.themes[theme]}`,
      also: t.palette.also.theme,
      run: () => setTheme(theme),
    })),
    ...LANGUAGE_CHOICES.map((choice) => ({
      id: `language-${choice}`,
      icon: LanguageIcon,
      name: `${t.shell.language}: ${languageName(choice, t)}`,
      // For who cannot read the language that is shown.
      also: 'language Sprache',
      run: () => setLanguage(choice),
    })),
    {
      id: 'sign-out',
      icon: SignOutIcon,
      name: t.shell.signOut,
      also: t.palette.also.signOut,
      run: () => void signOut(),
    },
    { id: 'shortcuts', icon: KeyIcon, name: t.shortcuts.title, run: onShortcuts },
  ]
  return commands.map((command) => ({ ...command, group: t.palette.commands }))
}

function useMakeCommands(): readonly Command[] {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const create: Command = {
    id: 'create',
    icon: AddIcon,
    name: t.shell.createLink,
    run: () => void navigate({ to: '/links/new' }),
  }
  const addDomain: Command = {
    id: 'add-domain',
    icon: AddIcon,
    name: t.domains.add,
    run: () => void navigate({ to: '/domains', search: { add: 'yes' } }),
  }
  const invite: Command = {
    id: 'invite',
    icon: InviteIcon,
    name: t.palette.invite,
    also: t.palette.also.invite,
    run: () => void navigate({ to: '/settings/members', search: { invite: 'yes' } }),
  }
  const startImport: Command = {
    id: 'import',
    icon: ImportIcon,
    name: t.imports.start,
    run: () => void navigate({ to: '/settings/imports/new' }),
  }
  return [
    ...(may('member') ? [create] : []),
    ...(may('admin') ? [addDomain, invite] : []),
    ...(may('member') ? [startImport] : []),
  ]
}

/** To the pages, those of the settings, and the other workspaces. */
function useGoCommands(): readonly Command[] {
  const t = useText()
  const navigate = useNavigate()
  const maySee = useMaySee()
  const change = useChangeWorkspace()
  const { session, membership } = useMembership()
  const others = session.memberships.filter(
    ({ workspace_id: id }) => id !== membership?.workspace_id,
  )
  return [
    ...PLACES.map(({ to, icon, name }) => ({
      id: to.slice(1),
      icon,
      name: t.palette.goTo(name(t)),
      run: () => void navigate({ to }),
    })),
    ...SETTINGS_PLACES.filter(maySee).map(({ to, name }) => ({
      id: to.replaceAll('/', '-'),
      icon: SettingsIcon,
      name: t.palette.settings(t.settings.pages[name]),
      run: () => void navigate({ to }),
    })),
    ...others.map(({ workspace_id: id, workspace_title: name }) => ({
      id,
      icon: ChevronsUpDownIcon,
      name: t.palette.workspace(name),
      run: () => void change(id),
    })),
  ]
}
