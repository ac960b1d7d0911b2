import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type LinkResource, linkSearchQuery } from '../api/links.ts'
import type { IconNode } from '../icons/Icon.tsx'
import {
  AddIcon,
  AnalyticsIcon,
  CopyIcon,
  EditIcon,
  ExternalIcon,
  ImportIcon,
  KeyIcon,
  LinkIcon,
  ThemeIcon,
} from '../icons/index.ts'
import { setTheme, THEMES } from '../state/theme.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { copyText } from '../widgets/CopyButton.tsx'
import { splitDestination } from '../widgets/split-destination.ts'
import { showMessage } from '../widgets/toasts.ts'
import { PLACES } from './navigation.ts'
import { useMembership } from './use-membership.ts'

export type PaletteEntry = {
  readonly id: string
  readonly group: string
  readonly icon: IconNode
  readonly name: string
  readonly detail?: string
  readonly end?: string
  /** The link that it shows; undefined for acts and commands. */
  readonly linkId?: string
  readonly run: () => void
}

/**
 * The entries that match what was typed.
 *
 * @param linkId the link that was highlighted last; the first one where it is undefined
 */
export function usePaletteEntries(
  typed: string,
  linkId: string | undefined,
  onShortcuts: () => void,
): readonly PaletteEntry[] {
  const t = useText()
  const navigate = useNavigate()
  const { data: links = [] } = useQuery(linkSearchQuery(typed))
  const link = links.find(({ id }) => id === linkId) ?? links[0]
  const acts = useLinkActs(link)
  const commands = useCommands(onShortcuts)
  const linkEntries = links.map((one) => ({
    ...linkEntry(one, t),
    run: () => void navigate({ to: '/links/$linkId', params: { linkId: one.id } }),
  }))
  const wanted = typed.toLowerCase()
  const matching = commands.filter(({ name }) => name.toLowerCase().includes(wanted))
  const isAddress = URL.canParse(typed) && /^https?:/.test(typed)
  const createTo: PaletteEntry = {
    id: 'create-to',
    group: t.palette.commands,
    icon: AddIcon,
    name: t.palette.createTo(typed),
    run: () => void navigate({ to: '/links/new', search: { url: typed } }),
  }
  return [...linkEntries, ...acts, ...(isAddress ? [createTo] : []), ...matching]
}

/** What can be done with a link without opening it. */
function useLinkActs(link: LinkResource | undefined): readonly PaletteEntry[] {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  if (link === undefined) return []
  const group = t.palette.actsOn(`${link.domain}/${link.key}`)
  const params = { linkId: link.id }
  async function copy(text: string) {
    if (await copyText(text)) showMessage(t.common.copied, CopyIcon)
  }
  const acts: PaletteEntry[] = [
    {
      id: 'copy',
      group,
      icon: CopyIcon,
      name: t.shortcuts.copy,
      run: () => void copy(link.link),
    },
    {
      id: 'analytics-of-link',
      group,
      icon: AnalyticsIcon,
      name: t.shell.analytics,
      run: () => void navigate({ to: '/analytics', search: { link: [link.id] } }),
    },
    {
      id: 'open',
      group,
      icon: ExternalIcon,
      name: t.palette.openDestination,
      run: () => void window.open(link.url, '_blank', 'noreferrer'),
    },
  ]
  const edit: PaletteEntry = {
    id: 'edit',
    group,
    icon: EditIcon,
    name: t.common.edit,
    run: () => void navigate({ to: '/links/$linkId/edit', params }),
  }
  return may('member') ? [edit, ...acts] : acts
}

function useCommands(onShortcuts: () => void): readonly PaletteEntry[] {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const group = t.palette.commands
  return [
    ...PLACES.map(({ to, icon, name }) => ({
      id: to.slice(1),
      group,
      icon,
      name: t.palette.goTo(name(t)),
      run: () => void navigate({ to }),
    })),
    {
      id: 'create',
      group,
      icon: AddIcon,
      name: t.shell.createLink,
      run: () => void navigate({ to: '/links/new' }),
    },
    ...(may('member')
      ? [
          {
            id: 'import',
            group,
            icon: ImportIcon,
            name: t.imports.start,
            run: () => void navigate({ to: '/settings/imports/new' }),
          },
        ]
      : []),
    ...THEMES.map((theme) => ({
      id: `theme-${theme}`,
      group,
      icon: ThemeIcon,
      name: `${t.shell.theme}: ${t.shell.themes[theme]}`,
      run: () => setTheme(theme),
    })),
    { id: 'shortcuts', group, icon: KeyIcon, name: t.shortcuts.title, run: onShortcuts },
  ]
}

function linkEntry(link: LinkResource, t: Catalogue): Omit<PaletteEntry, 'run'> {
  return {
    id: link.id,
    linkId: link.id,
    group: t.palette.links,
    icon: LinkIcon,
    name: `${link.domain}/${link.key}`,
    detail: splitDestination(link.url).join(''),
    ...(link.clicks !== null && { end: t.common.clicks(link.clicks) }),
  }
}
