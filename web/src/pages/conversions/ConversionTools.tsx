import { useText } from '../../text/use-text.ts'
import { FilterChip } from '../../widgets/Chip.tsx'
import {
  ComparisonChip,
  LinkChips,
  PeriodChip,
  TagChips,
  TimeZoneMenu,
  ValueChips,
} from '../analytics/AnalyticsTools.tsx'
import { toggled } from '../analytics/analytics-search.ts'
import { useAddressChange } from '../analytics/ChangeLink.tsx'
import type { ConversionView } from './conversion-view.ts'

/** Period, comparison, filters and time zone. */
export function ConversionTools({ view }: { view: ConversionView }) {
  const t = useText()
  const change = useAddressChange()
  const { clicks, search } = view
  return (
    <div className="tools" role="toolbar" aria-label={t.analytics.filters}>
      <PeriodChip view={clicks} />
      <ComparisonChip view={clicks} />
      <span className="sep desk" />
      {(['event', 'currency'] as const).flatMap((filter) =>
        (search[filter] ?? []).map((value) => (
          <FilterChip
            key={`${filter} ${value}`}
            name={t.conversions.dimension[filter]}
            values={[value || t.common.none]}
            onRemove={() => change({ [filter]: toggled(search[filter], value) })}
          />
        )),
      )}
      <TagChips tags={clicks.scope.tags} />
      <LinkChips links={clicks.scope.links} />
      <ValueChips view={clicks} />
      <div className="end">
        <TimeZoneMenu view={clicks} />
      </div>
    </div>
  )
}
