import { type ReactNode, useState } from 'react'
import { DIMENSIONS } from '../../api/click-reads.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CalendarIcon, ChevronDownIcon, CloseIcon, DomainIcon } from '../../icons/index.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { browserTimeZone } from '../../text/time-zone.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { COMPARISONS, NO_VALUES, PERIODS, type PeriodName, toggled } from './analytics-search.ts'
import { PeriodDialog } from './PeriodDialog.tsx'
import { rangeText } from './series-data.ts'
import { useChange } from './use-change.ts'
import { valueName } from './value-names.ts'
import type { View } from './view.ts'

type AnalyticsToolsProps = {
  readonly view: View
  /** Chips that say whose clicks are shown. */
  readonly scopeChips: ReactNode
  readonly actions: ReactNode
}

/** Period, comparison, filters and time zone. */
export function AnalyticsTools({ view, scopeChips, actions }: AnalyticsToolsProps) {
  const t = useText()
  return (
    <div className="tools" role="toolbar" aria-label={t.analytics.filters}>
      <PeriodChip view={view} />
      {view.scope.links.length < 2 && <ComparisonChip view={view} />}
      <span className="sep desk" />
      {scopeChips}
      <ValueChips view={view} />
      <div className="end">
        <TimeZoneMenu view={view} />
        {actions}
      </div>
    </div>
  )
}

/** As letters of the shortcuts. */
const PERIOD_KEYS: Readonly<Record<PeriodName, string>> = {
  today: 't',
  '7d': 'w',
  '30d': 'm',
  '90d': 'q',
  '12m': 'y',
}

/** A shortcut for a period. */
function PeriodKey({ period, onChoose }: { period: PeriodName; onChoose: () => void }) {
  useShortcut(PERIOD_KEYS[period], (text) => text.analytics.periods[period], onChoose)
  return null
}

function PeriodChip({ view }: { view: View }) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const change = useChange()
  const [isOpen, setOpen] = useState(false)
  const { from, period = '30d' } = view.search
  function choose(chosen: string) {
    const next = PERIODS.find((one) => one === chosen && one !== '30d')
    change({ period: next, from: undefined, to: undefined, interval: undefined })
  }
  const name = from === undefined ? t.analytics.periods[period] : rangeText(view.period, formats)
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button className="chip" type="button">
            <Icon of={CalendarIcon} />
            {name}
            <Icon of={ChevronDownIcon} />
          </button>
        }
      >
        <MenuChoice
          label={t.analytics.period}
          value={from === undefined ? period : 'custom'}
          choices={PERIODS.map((one) => [one, t.analytics.periods[one]] as const)}
          onChange={choose}
        />
        <MenuSeparator />
        <MenuItem icon={CalendarIcon} onSelect={() => setOpen(true)}>
          {t.analytics.custom}
        </MenuItem>
      </Menu>
      {PERIODS.map((one) => (
        <PeriodKey key={one} period={one} onChoose={() => choose(one)} />
      ))}
      {isOpen && <PeriodDialog view={view} onClose={() => setOpen(false)} />}
    </>
  )
}

function ComparisonChip({ view }: { view: View }) {
  const t = useText()
  const change = useChange()
  const value = view.search.compare ?? 'previous'
  return (
    <Menu
      align="start"
      trigger={
        <button className="chip" type="button">
          {t.analytics.comparisons[value]}
          <Icon of={ChevronDownIcon} />
        </button>
      }
    >
      <MenuChoice
        label={t.analytics.comparison}
        value={value}
        choices={COMPARISONS.map((one) => [one, t.analytics.comparisons[one]] as const)}
        onChange={(compare) => change({ compare: compare === 'previous' ? undefined : compare })}
      />
    </Menu>
  )
}

function TimeZoneMenu({ view }: { view: View }) {
  const t = useText()
  const change = useChange()
  const own = browserTimeZone()
  const zones = [...new Set([own, 'UTC', view.timezone])]
  return (
    <Menu
      trigger={
        <Button size="small" look="bare" icon={DomainIcon} className="relative">
          <span className="sr">{t.analytics.timezone}: </span>
          {view.timezone}
        </Button>
      }
    >
      <MenuChoice
        label={t.analytics.timezone}
        value={view.timezone}
        choices={zones.map((zone) => [zone, zone] as const)}
        onChange={(zone) => change({ timezone: zone === own ? undefined : zone })}
      />
    </Menu>
  )
}

/** The values that clicks are filtered by. */
function ValueChips({ view }: { view: View }) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const change = useChange()
  const set = DIMENSIONS.flatMap((dimension) =>
    (view.filter[dimension] ?? []).map((value) => ({ dimension, value })),
  )
  return (
    <>
      {set.map(({ dimension, value }) => (
        <RemovableChip
          key={`${dimension} ${value}`}
          name={t.analytics.dimension[dimension]}
          value={valueName(dimension, value, formats, t)}
          onRemove={() => change({ [dimension]: toggled(view.filter[dimension], value) })}
        />
      ))}
      {set.length > 1 && (
        <button className="chip add" type="button" onClick={() => change(NO_VALUES)}>
          {t.analytics.clearFilters}
        </button>
      )}
    </>
  )
}

type RemovableChipProps = {
  readonly name: string
  readonly value: string
  readonly onRemove: () => void
}

export function RemovableChip({ name, value, onRemove }: RemovableChipProps) {
  const t = useText()
  return (
    <span className="chip on">
      <span>{name}</span>
      <b>{value}</b>
      <button
        type="button"
        aria-label={t.links.removeFilter(`${name} ${value}`)}
        onClick={onRemove}
      >
        <Icon of={CloseIcon} />
      </button>
    </span>
  )
}
