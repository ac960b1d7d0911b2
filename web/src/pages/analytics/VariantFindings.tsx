import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { VariantComparisonResource } from '@terse/contract/variants'
import { Fragment } from 'react'
import type { Period } from '../../api/click-reads.ts'
import { requestPatiently } from '../../api/request.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import type { Catalogue } from '../../text/en.ts'
import { useText } from '../../text/use-text.ts'
import { letterOf } from '../rules/rule-draft.ts'
import { useReport } from './reports.ts'
import { useRuleNames } from './rule-names.ts'
import type { View } from './view.ts'

type Split = VariantComparisonResource['data'][number]
type Variant = Split['variants'][number]

const REFRESH_MS = 60_000
/** Of variants; more begin again with the first. */
const COLORS = 6

/** @param link its id */
function variantsQuery(link: string, query: Period & { readonly timezone: string }) {
  const path = `/links/${link}/variants`
  return queryOptions({
    queryKey: ['clicks', path, query],
    queryFn: ({ signal }) => requestPatiently<VariantComparisonResource>(path, { query, signal }),
    placeholderData: keepPreviousData,
    staleTime: REFRESH_MS / 2,
    refetchInterval: REFRESH_MS,
  })
}

/** What the visitors of a link's variants say. Nothing for several links, and before a visitor got a variant. */
export function VariantFindings({ view }: { view: View }) {
  const [link] = view.scope.links
  const isOne = view.scope.links.length === 1 && view.scope.tags.length === 0
  return link !== undefined && isOne ? <Findings link={link} view={view} /> : null
}

function Findings({ link, view }: { link: string; view: View }) {
  const { data, isStale } = useReport(
    variantsQuery(link, { ...view.period, timezone: view.timezone }),
  )
  const splits = data?.data.filter(({ visitors }) => visitors > 0) ?? []
  // Findings leave before they could be wrong.
  if (isStale) return null
  return splits.map((split) => <SplitFinding key={split.rule} split={split} view={view} />)
}

function SplitFinding({ split, view }: { split: Split; view: View }) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const ruleName = useRuleNames(view.scope)
  const hasConversions = split.variants.some(({ conversions }) => (conversions ?? 0) > 0)
  const base = split.variants.find(({ verdict }) => verdict === 'base')?.name ?? ''
  return (
    <section className="cell first findings">
      <div className="cell-h">
        <h2>
          {t.analytics.split}: {split.name ?? ruleName('rule', split.rule) ?? split.rule}
        </h2>
      </div>
      <p>{t.analytics.splitVerdicts[split.verdict]}</p>
      <table className="dt">
        <thead>
          <tr>
            <th scope="col">{t.analytics.dimension.variant}</th>
            <th scope="col">{t.analytics.measures.visitors}</th>
            <th scope="col">{t.analytics.share}</th>
            <th scope="col">{t.analytics.expectedShare}</th>
            {hasConversions && <th scope="col">{t.conversions.title}</th>}
            {hasConversions && <th scope="col">{t.conversions.rate}</th>}
          </tr>
        </thead>
        <tbody>
          {split.variants.map((variant, nth) => (
            <Fragment key={variant.name}>
              <tr>
                <th scope="row">
                  <span className="finding">
                    <span className={`sq b${(nth % COLORS) + 1}`} aria-hidden>
                      {letterOf(nth)}
                    </span>
                    {variant.name}
                  </span>
                </th>
                <td>{formats.number(variant.visitors)}</td>
                <td>{variant.share === null ? '–' : formats.share(variant.share)}</td>
                <td>{formats.share(variant.expected_share)}</td>
                {hasConversions && <td>{formats.number(variant.conversions ?? 0)}</td>}
                {hasConversions && <td>{rateText(variant, formats.share, t)}</td>}
              </tr>
              <tr>
                <td colSpan={hasConversions ? 6 : 4} className="muted">
                  {variantText(variant, base, formats.share, t)}
                </td>
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Of its visitors, with the interval of the true rate. */
function rateText({ rate }: Variant, share: (ratio: number) => string, t: Catalogue): string {
  if (rate === null) return t.conversions.tooFew
  const range = t.conversions.range(share(rate.low / 100), share(rate.high / 100))
  return `${share(rate.value / 100)} (${range})`
}

function variantText(
  { verdict, more }: Variant,
  base: string,
  share: (ratio: number) => string,
  t: Catalogue,
): string {
  const texts = t.analytics.variantVerdicts
  if (verdict === 'base' || verdict === 'paused' || verdict === 'too_few' || more === null) {
    return texts[verdict === 'base' || verdict === 'paused' ? verdict : 'too_few']
  }
  const [low, high] = [share(more.low / 100), share(more.high / 100)]
  if (verdict === 'fewer') return texts.fewer(share(-more.high / 100), share(-more.low / 100), base)
  return verdict === 'more' ? texts.more(low, high, base) : texts.no_difference(low, high, base)
}
