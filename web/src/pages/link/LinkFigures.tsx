import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type CSSProperties, useEffect, useRef } from 'react'
import type { Dimension } from '../../api/click-reads.ts'
import { type DetailedLink, type LinkResource, visitAddress } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ArrowRightIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { noteNewClicks } from '../../shell/refresh-figures.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { Preference, usePreference } from '../../state/preference.ts'
import { LINK_DAYS, LINK_DAYS_PREFERENCE, type LinkDays, linkDaysOf } from '../../state/stored.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { buttonClass } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { useNow } from '../../widgets/Time.tsx'
import type { AnalyticsPageSearch } from '../analytics/analytics-search.ts'
import { breakdownQuery, countOf, valueName } from '../analytics/groups.ts'
import { useReport } from '../analytics/reports.ts'
import { Totals } from '../analytics/Totals.tsx'
import type { View } from '../analytics/view.ts'
import { ConversionFigures } from '../conversions/ConversionFigures.tsx'
import { conversionLineQuery, conversionViewOf } from '../conversions/conversion-view.ts'
import { analyticsOf, linkViewOf } from './link-view.ts'

const route = getRouteApi('/shell/links/$linkId')

const chosenDays = new Preference(LINK_DAYS_PREFERENCE, linkDaysOf)
/** In the order in which they are offered; their shortcuts are 1, 2 and 3. */
const OFFERED = LINK_DAYS.toSorted((one, other) => Number(one) - Number(other))

/** How the link is doing: figures, their line, and where the clicks come from. */
export function LinkFigures({ link }: { link: DetailedLink }) {
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
        <LinkConversions link={link} search={elsewhere} />
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

type LinkConversionsProps = {
  readonly link: DetailedLink
  /** The search of the analytics page. */
  readonly search: AnalyticsPageSearch
}

/** What the link brought, where it has conversions or counts them. */
function LinkConversions({ link, search }: LinkConversionsProps) {
  const t = useText()
  const view = conversionViewOf(search, useNow())
  const { data } = useQuery(conversionLineQuery(view))
  const amount = (data?.total.conversions ?? 0) + (data?.total.refunds ?? 0)
  if (amount === 0 && link.options.track_conversions !== true) return null
  return (
    <section className="link-conversions" aria-label={t.conversions.title}>
      <ConversionFigures view={view} />
      <Link to="/analytics/conversions" search={search as never} preload={false} className="more">
        {t.conversions.openPage}
      </Link>
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
    <>
      <SegmentedControl
        label={t.analytics.period}
        value={days}
        choices={OFFERED.map((one) => [one, t.link.days(Number(one))] as const)}
        onChange={(one) => chosenDays.set(one)}
      />
      {OFFERED.map((one, nth) => (
        <PeriodKey key={one} days={one} shortcut={String(nth + 1)} />
      ))}
    </>
  )
}

function PeriodKey({ days, shortcut }: { days: LinkDays; shortcut: string }) {
  useShortcut(
    shortcut,
    (text) => text.link.days(Number(days)),
    () => chosenDays.set(days),
  )
  return null
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

const ROWS = 4

type ShortListProps = {
  readonly view: View
  readonly grouping: Dimension
  /** The search of the analytics page, to which each row leads with its value. */
  readonly search: AnalyticsPageSearch
}

/** The values of a dimension with the most clicks. */
function ShortList({ view, grouping, search }: ShortListProps) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const { data, error, isStale } = useReport(breakdownQuery(view, grouping, ROWS))
  const name = t.analytics.dimensions[grouping]
  const values = (data?.data.length ?? 0) + (data?.rest.values ?? 0)
  const largest = countOf(data?.data[0])
  return (
    <section className="cell third">
      <div className="cell-h">
        <h2>{name}</h2>
      </div>
      {data === undefined && error !== null && <LoadFailure error={error} />}
      <div className="bars" aria-busy={isStale} data-rows={ROWS}>
        {data?.data.slice(0, ROWS).map((group) => {
          const value = group.value ?? ''
          const text = valueName(grouping, value, formats, t)
          const width = `${largest === 0 ? 0 : (countOf(group) / largest) * 100}%`
          return (
            <Link
              key={value}
              to="/analytics"
              search={{ ...search, [grouping]: [value] }}
              preload={false}
              style={{ '--w': width } as CSSProperties}
            >
              {grouping === 'country' && <span className="cc">{value === '' ? '–' : value}</span>}
              <span className="cut" title={text}>
                {text}
              </span>
              <span className="v">{formats.number(countOf(group))}</span>
            </Link>
          )
        })}
        {data?.data.length === 0 && <p className="muted bars-none">{t.common.none}</p>}
      </div>
      {values > 0 && (
        <Link
          to="/analytics"
          search={search}
          preload={false}
          className="more"
          aria-label={`${t.analytics.all(values)}: ${name}`}
        >
          {t.analytics.all(values)}
        </Link>
      )}
    </section>
  )
}
