import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { usageQuery } from '../../api/workspaces.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { useText } from '../../text/use-text.ts'
import { useNow } from '../../widgets/Time.tsx'
import { AnalyticsViews } from '../analytics/AnalyticsViews.tsx'
import { useReport } from '../analytics/reports.ts'
import { VariantFindings } from '../analytics/VariantFindings.tsx'
import { ConversionBreakdown, CurrencyList } from './ConversionBreakdown.tsx'
import { ConversionChart } from './ConversionChart.tsx'
import { ConversionFigures } from './ConversionFigures.tsx'
import { ConversionSetUp } from './ConversionSetUp.tsx'
import { ConversionTools } from './ConversionTools.tsx'
import {
  COUNT,
  type ConversionView,
  conversionLineQuery,
  conversionViewOf,
  RATED_GROUPINGS,
  unitOf,
} from './conversion-view.ts'
import { LastConversions } from './LastConversions.tsx'

const route = getRouteApi('/shell/analytics/conversions')

/** How often the page asks whether the first conversion has come. */
const WAITING_MS = 2_000

/** Which links brought orders and sign-ups, and what they are worth. */
export default function ConversionsPage() {
  const t = useText()
  const search = route.useSearch()
  const view = conversionViewOf(search, useNow())
  const { data: usage, error } = useQuery({
    ...usageQuery,
    refetchInterval: ({ state }) => (state.data?.conversions.used === 0 ? WAITING_MS : false),
  })
  return (
    <Page
      title={t.analytics.title}
      tabTitle={t.conversions.title}
      views={<AnalyticsViews />}
      isFlush
    >
      {usage === undefined && error !== null && <LoadFailure error={error} />}
      {usage?.conversions.used === 0 && <ConversionSetUp />}
      {usage !== undefined && usage.conversions.used > 0 && <Report view={view} />}
    </Page>
  )
}

function Report({ view }: { view: ConversionView }) {
  const t = useText()
  const { data, error, isStale } = useReport(conversionLineQuery(view))
  const unit = data === undefined ? COUNT : unitOf(view.search, data.total)
  const currency = unit === COUNT ? data?.total.values[0]?.currency : unit
  const list = { view, currency }
  return (
    <>
      <ConversionTools view={view} />
      <div className="analytics">
        <div className="sheet">
          {data === undefined && error !== null && <LoadFailure error={error} />}
          <ConversionFigures view={view} />
          <ConversionChart view={view} report={data} unit={unit} isStale={isStale} />
          <VariantFindings view={view.clicks} />
          <div className="cells">
            <ConversionBreakdown {...list} groupings={RATED_GROUPINGS} className="w4" />
            <CurrencyList view={view} total={data?.total} />
            <ConversionBreakdown {...list} groupings={['event']} className="first" />
            <ConversionBreakdown
              {...list}
              groupings={['utm_source', 'utm_medium', 'utm_campaign']}
              className=""
            />
          </div>
          <LastConversions view={view} />
        </div>
        <p className="hint analytics-note">{t.conversions.note}</p>
      </div>
    </>
  )
}
