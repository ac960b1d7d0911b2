import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useId, useState } from 'react'
import {
  changeDomain,
  changeHsts,
  type DnsReportResource,
  DOMAIN_LISTS_KEY,
  DOMAINS_KEY,
  type DomainResource,
  dnsQuery,
  editedDomainSettingsQuery,
  httpsQuery,
  removeDomain,
  type ShownDomain,
  setDefaultDomain,
} from '../../api/domains.ts'
import { LINKS_KEY, linksQuery } from '../../api/links.ts'
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
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { ManagedNote } from '../../shell/ManagedNote.tsx'
import { useChange, useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { Skeleton } from '../../widgets/Loading.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { Block } from '../link-form/Block.tsx'
import { DomainDetails } from './DomainDetails.tsx'
import { type Standing, standingOf } from './record-state.ts'

/** Opened by few: it is loaded then. */
const DomainSettings = lazy(() => import('./DomainSettings.tsx'))

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
          className="domain-toggle muted"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          aria-label={t.domains.detailsOf(name)}
          onClick={() => onToggle(!isOpen)}
        >
          <Icon of={isOpen ? ChevronDownIcon : ChevronRightIcon} />
        </button>
        <h2 className="nm domain-name">
          <span className="cut" title={domain.domain}>
            {name}
          </span>
          {domain.is_default && <span className="tag flex-none">{t.domains.default}</span>}
        </h2>
        <span className="domain-status">
          <StandingBadge standing={standing} />
        </span>
        <span className="domain-note cut">
          <CertificateText domain={domain} report={report} standing={standing} />
        </span>
        <span className="domain-links num">
          {domain.links !== null && t.common.links(domain.links)}
        </span>
        <DomainMenu domain={domain} />
      </div>
      {isOpen && (
        <div id={id}>
          <DomainDetails domain={domain} />
          <div className="dom-set">
            <Block
              title={t.domains.more.title}
              summary={t.domains.more.summary}
              isFilled={false}
              hasErrors={false}
            >
              <Suspense fallback={<Skeleton width={240} />}>
                <DomainSettings domain={domain} />
              </Suspense>
            </Block>
          </div>
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
    <button
      className="ib domain-menu"
      type="button"
      aria-label={t.domains.actionsFor(domain.domain)}
    >
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

type DomainSettingsDialogProps = {
  readonly domain: DomainResource
  readonly onClose: () => void
}

/** Where visits without a link go, and whether browsers use only HTTPS. */
function DomainSettingsDialog({ domain, onClose }: DomainSettingsDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const { data: https, error: loadError } = useQuery(httpsQuery(domain.id))
  const { data: settings } = useQuery(editedDomainSettingsQuery(domain.id))
  const [notFoundUrl, setNotFoundUrl] = useState(domain.not_found_url ?? '')
  const [expiredUrl, setExpiredUrl] = useState(domain.expired_url ?? '')
  const [chosenHsts, setHsts] = useState<string>()
  const before = https === undefined ? undefined : hstsText(https.hsts_max_age)
  const hsts = chosenHsts ?? before
  const { mutate, isPending, error } = useMutation({
    async mutationFn() {
      await changeDomain(domain.id, {
        not_found_url: notFoundUrl.trim() || null,
        expired_url: expiredUrl.trim() || null,
      })
      if (hsts !== undefined && hsts !== before) {
        await changeHsts(domain.id, hsts === 'off' ? null : Number(hsts))
      }
    },
    async onSuccess() {
      await client.invalidateQueries({ queryKey: DOMAINS_KEY })
      showMessage(t.domains.saved(domain.domain))
      onClose()
    },
  })
  const faults = useFaults(error ?? loadError, ['not_found_url', 'expired_url', 'hsts_max_age'])
  return (
    <FormDialog
      onClose={onClose}
      onSubmit={() => mutate()}
      title={domain.domain}
      verb={t.common.save}
      isBusy={isPending}
    >
      {settings !== undefined && (
        <ManagedNote
          of={settings.value}
          kind="domain"
          path={`/domains/${domain.id}/settings`}
          mayRelease
          keys={[editedDomainSettingsQuery(domain.id).queryKey]}
        />
      )}
      <AddressField
        label={t.domains.notFoundUrl}
        hint={t.domains.notFoundHint}
        errors={faults.of('not_found_url')}
        value={notFoundUrl}
        onChange={setNotFoundUrl}
      />
      <AddressField
        label={t.domains.expiredUrl}
        hint={t.domains.expiredHint}
        errors={faults.of('expired_url')}
        value={expiredUrl}
        onChange={setExpiredUrl}
      />
      <Field
        label={t.domains.hsts}
        hint={t.domains.hstsHint}
        errors={faults.withGeneral('hsts_max_age')}
      >
        {(control) =>
          hsts === undefined ? (
            <Skeleton width={120} />
          ) : (
            <Select {...control} value={hsts} onChange={(event) => setHsts(event.target.value)}>
              <HstsChoices value={hsts} />
            </Select>
          )
        }
      </Field>
    </FormDialog>
  )
}

const HSTS_SECONDS = ['off', '300', '86400', '2592000', '31536000', '63072000', '0'] as const

function HstsChoices({ value }: { value: string }) {
  const t = useText()
  const isOther = HSTS_SECONDS.every((one) => one !== value)
  return (
    <>
      {HSTS_SECONDS.map((one) => (
        <option key={one} value={one}>
          {t.domains.hstsChoices[one]}
        </option>
      ))}
      {isOther && <option value={value}>{t.domains.hstsOther(Number(value))}</option>}
    </>
  )
}

function hstsText(seconds: number | null): string {
  return seconds === null ? 'off' : String(seconds)
}

type AddressFieldProps = {
  readonly label: string
  readonly hint: string
  readonly errors: readonly string[] | undefined
  readonly value: string
  readonly onChange: (value: string) => void
}

function AddressField({ label, hint, errors, value, onChange }: AddressFieldProps) {
  return (
    <Field label={label} hint={hint} errors={errors}>
      {(control) => (
        <Input
          {...control}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          placeholder="https://"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

type RemoveDomainDialogProps = {
  readonly domain: DomainResource
  readonly onClose: () => void
}

/** Removing a domain affects visitors at once, so its name must be typed. */
function RemoveDomainDialog({ domain, onClose }: RemoveDomainDialogProps) {
  const t = useText()
  const host = domain.domain
  const { data: links } = useQuery(linksQuery({ domain: [host], sort: '-clicks' }, 1, 1))
  const busiest = links?.data[0]
  return (
    <ConfirmDialog
      title={t.domains.removeTitle(host)}
      text={links && t.domains.removeText(links.meta.total)}
      verb={t.domains.remove}
      name={host}
      act={() => removeDomain(domain.id)}
      keys={[DOMAIN_LISTS_KEY, LINKS_KEY]}
      message={t.domains.removed(host)}
      onClose={onClose}
    >
      {busiest !== undefined && (
        <ul className="quiet">
          <li>
            <span>{t.domains.busiest}</span>
            <span className="cut">
              /{busiest.key}, {t.common.clicks(busiest.clicks ?? 0)}
            </span>
          </li>
        </ul>
      )}
    </ConfirmDialog>
  )
}
