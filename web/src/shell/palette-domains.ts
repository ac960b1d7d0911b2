import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type DomainResource, domainsQuery } from '../api/domains.ts'
import { AddIcon, AnalyticsIcon, CopyIcon, LinkIcon, ReloadIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { fuzzyMatches } from './fuzzy-matches.ts'
import type { PaletteEntry } from './palette-entry.ts'
import { useDomainActs } from './use-domains.ts'
import { useMembership } from './use-membership.ts'

const SHOWN_MAX = 4

/** The domains whose name matches what was typed; none while nothing is. */
export function usePaletteDomains(typed: string): readonly DomainResource[] {
  const { data: domains = [] } = useQuery({ ...domainsQuery, enabled: typed !== '' })
  if (typed === '') return []
  return fuzzyMatches(typed, domains, ({ domain }) => domain).slice(0, SHOWN_MAX)
}

/** What can be done with a domain without opening it. */
export function usePaletteDomainActs(domain: DomainResource | undefined): readonly PaletteEntry[] {
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
