import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import {
  type DnsReportResource,
  DOMAIN_LISTS_KEY,
  dnsQuery,
  type ShownDomain,
  setDefaultDomain,
} from '../../api/domains.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  AddIcon,
  ChevronDownIcon,
  ChevronRightIcon,
  EditIcon,
  GoodIcon,
  LinkIcon,
  MoreIcon,
  PendingIcon,
  TrashIcon,
  WarningIcon,
} from '../../icons/index.ts'
import { useChange } from '../../shell/use-change.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { DomainDetails } from './DomainDetails.tsx'
import { DomainSettingsDialog } from './DomainSettingsDialog.tsx'
import { RemoveDomainDialog } from './RemoveDomainDialog.tsx'
import { type Standing, standingOf } from './record-state.ts'

type DomainItemProps = {
  readonly domain: ShownDomain
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
}

/** A line for each domain; unfolded, with its DNS records. */
export function DomainItem({ domain, isOpen, onToggle }: DomainItemProps) {
  const t = useText()
  const id = useId()
  const { data: report } = useQuery({ ...dnsQuery(domain.id), enabled: isOpen })
  const name = domain.dns.unicode_domain
  const standing = standingOf(domain, report)
  return (
    <article className={isOpen ? 'dom open' : 'dom'}>
      <div className="dom-h">
        <button
          type="button"
          className="d1 muted"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          aria-label={t.domains.detailsOf(name)}
          onClick={() => onToggle(!isOpen)}
        >
          <Icon of={isOpen ? ChevronDownIcon : ChevronRightIcon} />
        </button>
        <h2 className="nm d2">
          <span className="cut" title={domain.domain}>
            {name}
          </span>
          {domain.is_default && <span className="tag flex-none">{t.domains.default}</span>}
        </h2>
        <span className="d3">
          <StandingBadge standing={standing} />
        </span>
        <span className="d4 cut">
          <CertificateText domain={domain} report={report} standing={standing} />
        </span>
        <span className="d5 num">{domain.links !== null && t.common.links(domain.links)}</span>
        <DomainMenu domain={domain} />
      </div>
      {isOpen && (
        <div id={id}>
          <DomainDetails domain={domain} />
        </div>
      )}
    </article>
  )
}

function StandingBadge({ standing }: { standing: Standing }) {
  const t = useText()
  const looks = {
    active: ['ok', GoodIcon],
    pending: ['warn', PendingIcon],
    missing: ['warn', WarningIcon],
    elsewhere: ['off', PendingIcon],
  } as const
  const [look, icon] = looks[standing]
  return (
    <span className={`badge ${look}`}>
      <Icon of={icon} />
      {t.domains.states[standing]}
    </span>
  )
}

type CertificateTextProps = {
  readonly domain: ShownDomain
  readonly report: DnsReportResource | undefined
  readonly standing: Standing
}

function CertificateText({ domain, report, standing }: CertificateTextProps) {
  const t = useText()
  const formats = useFormats()
  if (standing === 'elsewhere') return t.domains.inUseElsewhere
  if (domain.status !== 'active') return t.domains.noCertificate
  const until = report?.certificate?.valid_until ?? domain.https.certificate?.valid_until
  // A proxy in front of the service may have the certificate: nothing to say then.
  return until === undefined ? null : t.domains.certificateUntil(formats.day(new Date(until)))
}

function DomainMenu({ domain }: { domain: ShownDomain }) {
  const t = useText()
  const { may } = useMembership()
  const [open, setOpen] = useState<'settings' | 'remove'>()
  const close = () => setOpen(undefined)
  const { domain: host, is_default: isDefault } = domain
  const { mutate: chooseDefault } = useChange(setDefaultDomain, {
    keys: [DOMAIN_LISTS_KEY],
    message: (chosen) =>
      chosen === null ? t.domains.defaultEnded : t.domains.defaultChosen(chosen),
  })
  const trigger = (
    <button className="ib d6" type="button" aria-label={t.domains.actionsFor(domain.domain)}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <>
      <Menu trigger={trigger}>
        <MenuItem
          icon={LinkIcon}
          render={<Link to="/links" search={{ domain: [domain.domain] }} />}
        >
          {t.domains.showLinks}
        </MenuItem>
        {may('admin') && (
          <>
            <MenuItem icon={EditIcon} onSelect={() => setOpen('settings')}>
              {t.domains.settings}
            </MenuItem>
            <MenuItem icon={AddIcon} onSelect={() => chooseDefault(isDefault ? null : host)}>
              {isDefault ? t.domains.endDefault : t.domains.makeDefault}
            </MenuItem>
            <MenuSeparator />
            <MenuItem icon={TrashIcon} isDangerous onSelect={() => setOpen('remove')}>
              {t.domains.remove}
            </MenuItem>
          </>
        )}
      </Menu>
      {open === 'settings' && <DomainSettingsDialog domain={domain} onClose={close} />}
      {open === 'remove' && <RemoveDomainDialog domain={domain} onClose={close} />}
    </>
  )
}
