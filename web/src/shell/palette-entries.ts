import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { destinationOf, type LinkResource, linkSearchQuery, visitAddress } from '../api/links.ts'
import {
  AddIcon,
  AnalyticsIcon,
  CopyIcon,
  DomainIcon,
  DuplicateIcon,
  EditIcon,
  ExternalIcon,
  LinkIcon,
} from '../icons/index.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { copyWithMessage } from '../widgets/copy.ts'
import { shortDestination } from '../widgets/destination-parts.ts'
import { fuzzyMatches } from './fuzzy-matches.ts'
import { useCommands } from './palette-commands.ts'
import { usePaletteDomainActs, usePaletteDomains } from './palette-domains.ts'
import type { PaletteEntry } from './palette-entry.ts'
import { useMembership } from './use-membership.ts'

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
