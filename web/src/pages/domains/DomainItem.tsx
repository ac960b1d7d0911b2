import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { type DomainResource, dnsQuery, httpsQuery } from '../../api/domains.ts'
import { linksQuery } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
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
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { DomainDetails } from './DomainDetails.tsx'
import { DomainSettingsDialog } from './DomainSettingsDialog.tsx'
import { RemoveDomainDialog } from './RemoveDomainDialog.tsx'
import { type Standing, standingOf } from './record-state.ts'

type DomainItemProps = {
  readonly domain: DomainResource
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
}

/** A line for each domain; unfolded, with its DNS records. */
export function DomainItem({ domain, isOpen, onToggle }: DomainItemProps) {
  const t = useText()
  const id = useId()
  const { data: report } = useQuery({ ...dnsQuery(domain.id), enabled: isOpen })
  const { data: links } = useQuery(linksQuery({ domain: domain.domain }, 1, 1))
  const name = report?.unicode_domain ?? domain.domain
  const standing = standingOf(domain.status, report)
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
        </h2>
        <span className="d3">
          <StandingBadge standing={standing} />
        </span>
        <span className="d4 cut">
          <CertificateText domain={domain} standing={standing} />
        </span>
        <span className="d5 num">{links !== undefined && t.common.links(links.meta.total)}</span>
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
  readonly domain: DomainResource
  readonly standing: Standing
}

function CertificateText({ domain, standing }: CertificateTextProps) {
  const t = useText()
  const formats = useFormats()
  const isActive = domain.status === 'active'
  const { data: https } = useQuery({ ...httpsQuery(domain.id), enabled: isActive })
  if (standing === 'elsewhere') return t.domains.inUseElsewhere
  if (!isActive) return t.domains.noCertificate
  if (https === undefined) return null
  // A proxy in front of the service may have the certificate: nothing to say then.
  if (https.certificate === null) return null
  return t.domains.certificateUntil(formats.day(new Date(https.certificate.valid_until)))
}

function DomainMenu({ domain }: { domain: DomainResource }) {
  const t = useText()
  const { may } = useMembership()
  const [open, setOpen] = useState<'settings' | 'remove'>()
  const close = () => setOpen(undefined)
  const trigger = (
    <button className="ib d6" type="button" aria-label={t.domains.actionsFor(domain.domain)}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <>
      <Menu trigger={trigger}>
        <MenuItem icon={LinkIcon} render={<Link to="/links" search={{ domain: domain.domain }} />}>
          {t.domains.showLinks}
        </MenuItem>
        {may('admin') && (
          <>
            <MenuItem icon={EditIcon} onSelect={() => setOpen('settings')}>
              {t.domains.settings}
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
