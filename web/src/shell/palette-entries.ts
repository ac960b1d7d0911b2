import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type LinkResource, linkSearchQuery } from '../api/links.ts'
import { visitAddress } from '../api/visit-address.ts'
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
  const { data: links = [] } = useQuery(linkSearchQuery(typed))
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
  return [
    ...linkEntries,
    ...domainEntries,
    ...linkActs,
    ...domainActs,
    ...(isAddress ? [createTo] : []),
    ...matching,
  ]
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
      run: () => void copyWithMessage(visitAddress(link), t),
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
  const duplicate: PaletteEntry = {
    id: 'duplicate',
    group,
    icon: DuplicateIcon,
    name: t.links.duplicate,
    run: () => void navigate({ to: '/links/new', search: { from: link.id } }),
  }
  return may('member') ? [edit, ...acts, duplicate] : acts
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
