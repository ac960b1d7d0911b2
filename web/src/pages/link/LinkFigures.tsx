import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { LinkResource } from '../../api/links.ts'
import { visitAddress } from '../../api/visit-address.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ArrowRightIcon } from '../../icons/index.ts'
import { noteNewClicks } from '../../shell/refresh-figures.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { Preference, usePreference } from '../../state/preference.ts'
import {
  LINK_DAYS,
  LINK_DAYS_PREFERENCE,
  type LinkDays,
  linkDaysOf,
} from '../../state/stored-link-days.ts'
import { useText } from '../../text/use-text.ts'
import { buttonClass } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { useNow } from '../../widgets/Time.tsx'
import { Totals } from '../analytics/Totals.tsx'
import { analyticsOf, linkViewOf } from './link-view.ts'
import { ShortList } from './ShortList.tsx'

const route = getRouteApi('/shell/links/$linkId')

const chosenDays = new Preference(LINK_DAYS_PREFERENCE, linkDaysOf)
/** In the order in which they are offered; their shortcuts are 1, 2 and 3. */
const OFFERED = LINK_DAYS.toSorted((one, other) => Number(one) - Number(other))

/** How the link is doing: figures, their line, and where the clicks come from. */
export function LinkFigures({ link }: { link: LinkResource }) {
  const t = useText()
  const search = route.useSearch()
  const days = usePreference(chosenDays)
  const view = linkViewOf(link.id, search, days, useNow())
  const elsewhere = analyticsOf(view, days)
  useNewClicks(link.clicks ?? 0)
  return (
    <section className="stack" aria-label={t.link.figures}>
      <div className="period-bar">
        <PeriodChoice days={days} />
        <span className="hint desk">{t.link.versus(Number(days))}</span>
        <Link
          to="/analytics"
          search={elsewhere}
          className={buttonClass({ look: 'bare', size: 'small', className: 'ml-auto -mr-2.5' })}
        >
          {t.link.openAnalytics}
          <Icon of={ArrowRightIcon} small />
        </Link>
      </div>
      <div className="sheet">
        <Totals view={view} isFixed />
        {link.last_click === null ? (
          <NoClickYet link={link} />
        ) : (
          <div className="cells">
            {(['country', 'referrer', 'device'] as const).map((grouping) => (
              <ShortList key={grouping} view={view} grouping={grouping} search={elsewhere} />
            ))}
          </div>
        )}
      </div>
    </section>
  )
}

/** Lets the reports follow the number of the link, which is loaded every few seconds. */
function useNewClicks(clicks: number): void {
  const before = useRef(clicks)
  useEffect(() => {
    if (before.current !== clicks) noteNewClicks()
    before.current = clicks
  }, [clicks])
}

function PeriodChoice({ days }: { days: LinkDays }) {
  const t = useText()
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a frame and a legend
    <div className="seg" role="group" aria-label={t.analytics.period}>
      {OFFERED.map((one, nth) => (
        <PeriodButton key={one} days={one} shortcut={String(nth + 1)} isChosen={one === days} />
      ))}
    </div>
  )
}

type PeriodButtonProps = {
  readonly days: LinkDays
  readonly shortcut: string
  readonly isChosen: boolean
}

function PeriodButton({ days, shortcut, isChosen }: PeriodButtonProps) {
  const t = useText()
  const choose = () => chosenDays.set(days)
  useShortcut(shortcut, (text) => text.link.days(Number(days)), choose)
  return (
    <button type="button" aria-pressed={isChosen} onClick={choose}>
      {t.link.days(Number(days))}
    </button>
  )
}

/** In place of lists that would be empty. */
function NoClickYet({ link }: { link: LinkResource }) {
  const t = useText()
  const address = visitAddress(link)
  return (
    <p className="no-click">
      <span className="muted">{t.link.noClick}</span>
      <a className="link break-anywhere" href={address} target="_blank" rel="noreferrer">
        {address}
      </a>
      <CopyButton text={address} label={t.links.copyLink} />
    </p>
  )
}
