import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { webhooksQuery } from '../../api/webhooks.ts'
import { Icon } from '../../icons/Icon.tsx'
import { WarningIcon } from '../../icons/index.ts'
import { SETTINGS_PLACES, type SettingsPlace, useMaySee } from '../../shell/Navigation.tsx'
import { Page } from '../../shell/Page.tsx'
import { useFormats, useText } from '../../text/use-text.ts'

/** Elsewhere in the settings they need not be as fresh as on their own page. */
const REFRESH_MS = 60_000
const GROUPS = ['workspace', 'you', 'operator'] as const

/** The settings: the pages that the person may see, and the one that is open. */
export default function SettingsPage() {
  const t = useText()
  const { pathname } = useLocation()
  const maySee = useMaySee()
  const here = SETTINGS_PLACES.find(({ to }) => `${pathname}/`.includes(`${to}/`))
  const tabTitle = here && t.settings.pages[here.name]
  const isAllowed = here === undefined || maySee(here)
  return (
    <Page title={t.settings.title} tabTitle={tabTitle} isFlush>
      <div className="settings">
        <Places pathname={pathname} places={SETTINGS_PLACES.filter(maySee)} />
        <div className="body">{isAllowed ? <Outlet /> : <NotAllowed place={here} />}</div>
      </div>
    </Page>
  )
}

type PlacesProps = { readonly pathname: string; readonly places: readonly SettingsPlace[] }

function Places({ pathname, places }: PlacesProps) {
  const t = useText()
  const list = useRef<HTMLElement>(null)
  // On a phone the pages are one row that scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page that is current changes with the address
  useEffect(() => {
    const current = list.current?.querySelector('[aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [pathname])
  return (
    <nav ref={list} className="subnav nav" aria-label={t.settings.title}>
      {GROUPS.map((group) => {
        const shown = places.filter((place) => place.group === group)
        return (
          shown.length > 0 && (
            <div key={group}>
              <div className="grp">{t.settings.groups[group]}</div>
              {shown.map(({ to, name }) => (
                <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
                  {t.settings.pages[name]}
                  {name === 'webhooks' && <FailingWebhooks />}
                </Link>
              ))}
            </div>
          )
        )
      })}
    </nav>
  )
}

/** How many endpoints fail, or were switched off by the service. */
function FailingWebhooks() {
  const t = useText()
  const formats = useFormats()
  const { data: webhooks = [] } = useQuery({ ...webhooksQuery, refetchInterval: REFRESH_MS })
  const failing = webhooks.filter(
    ({ state, disabled_reason }) => state !== 'healthy' && disabled_reason !== 'by_hand',
  )
  if (failing.length === 0) return null
  return (
    <span className="n alert">
      <Icon of={WarningIcon} small label={t.webhooks.needAttention} />
      {formats.number(failing.length)}
    </span>
  )
}

/** For an address that was followed or typed: the navigation does not lead there. */
function NotAllowed({ place }: { place: SettingsPlace }) {
  const t = useText()
  const role = place.role === undefined ? t.instance.operator : t.settings.roles[place.role]
  return <div className="note">{t.settings.needsRole(role)}</div>
}
