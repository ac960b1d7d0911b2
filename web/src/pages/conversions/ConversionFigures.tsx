import { useQuery } from '@tanstack/react-query'
import { conversionRate } from '@terse/contract/rates'
import type { ReactNode } from 'react'
import type { ConversionReportResource } from '../../api/conversions.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useMoneyFormats } from '../../text/use-money-formats.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Skeleton } from '../../widgets/Loading.tsx'
import { changeOf } from '../analytics/scale.ts'
import { Change } from '../analytics/Totals.tsx'
import {
  type ConversionView,
  clicksLineQuery,
  conversionLineQuery,
  conversionTotalQuery,
} from './conversion-view.ts'

type Total = ConversionReportResource['total']

/** How many, of how many clicks, and what they are worth, each with the period before. */
export function ConversionFigures({ view }: { view: ConversionView }) {
  const t = useText()
  const { elapsed, timezone } = view.clicks
  const { data: report } = useQuery(conversionLineQuery(view))
  const { data: before } = useQuery({
    ...conversionTotalQuery(view, elapsed ?? view.clicks.period),
    enabled: elapsed !== undefined,
  })
  const { data: clicks } = useQuery(clicksLineQuery(view))
  const formats = useChartFormats(timezone)
  const total = report?.total
  const old = elapsed && before?.total
  return (
    <div className="kpis conversion-kpis">
      <Figure
        name={t.conversions.title}
        value={total && formats.number(total.conversions)}
        below={
          total &&
          old && (
            <Difference
              value={total.conversions}
              before={old.conversions}
              text={formats.number(old.conversions)}
              timezone={timezone}
            />
          )
        }
      />
      <RateFigure total={total} clicks={clicks?.total.clicks} timezone={timezone} />
      <ValueFigure total={total} before={old} timezone={timezone} />
      <OtherFigure total={total} />
    </div>
  )
}

type FigureProps = {
  readonly name: string
  readonly value: ReactNode
  readonly below?: ReactNode
}

function Figure({ name, value, below }: FigureProps) {
  return (
    <div className="kpi">
      <span className="k">{name}</span>
      <span className="v">{value ?? <Skeleton width={88} />}</span>
      <span className="d">{below}</span>
    </div>
  )
}

type DifferenceProps = {
  readonly value: number
  readonly before: number
  /** The number before, in words. */
  readonly text: string
  readonly timezone: string
}

function Difference({ value, before, text, timezone }: DifferenceProps) {
  const t = useText()
  // From below zero, no share says how much more it is.
  const ratio = before < 0 ? undefined : changeOf(value, before)
  return (
    <>
      <Change ratio={ratio} timezone={timezone} />
      <span className="from">{t.analytics.fromBefore(text)}</span>
    </>
  )
}

type RateFigureProps = {
  readonly total: Total | undefined
  readonly clicks: number | undefined
  readonly timezone: string
}

/** With the interval in which the true rate is in 95 % of cases; with too few, it says so. */
function RateFigure({ total, clicks, timezone }: RateFigureProps) {
  const t = useText()
  const formats = useChartFormats(timezone)
  if (total === undefined || clicks === undefined) {
    return <Figure name={t.conversions.rate} value={undefined} />
  }
  const rate = conversionRate(total.visits, clicks)
  if (rate === null) {
    return <Figure name={t.conversions.rate} value="–" below={t.conversions.tooFewOf(clicks)} />
  }
  return (
    <Figure
      name={t.conversions.rate}
      value={formats.share(rate.value)}
      below={
        <>
          <span>{t.conversions.range(formats.share(rate.low), formats.share(rate.high))}</span>
          <span className="from">{t.conversions.ofClicks(clicks)}</span>
        </>
      }
    />
  )
}

type ValueFigureProps = {
  readonly total: Total | undefined
  readonly before: Total | undefined
  readonly timezone: string
}

/** In the currency with the most conversions. */
function ValueFigure({ total, before, timezone }: ValueFigureProps) {
  const t = useText()
  const money = useMoneyFormats()
  const [main] = total?.values ?? []
  if (total === undefined) return <Figure name={t.conversions.value} value={undefined} />
  if (main === undefined) return <Figure name={t.conversions.value} value="–" />
  const { currency, value } = main
  const old = before?.values.find((each) => each.currency === currency)?.value ?? 0
  return (
    <Figure
      name={t.conversions.value}
      value={<Amount currency={currency} minor={value} />}
      below={
        before && (
          <Difference
            value={value}
            before={old}
            text={money.amount(old, currency)}
            timezone={timezone}
          />
        )
      }
    />
  )
}

/** The other currencies; with a single one, its refunds. */
function OtherFigure({ total }: { total: Total | undefined }) {
  const t = useText()
  const formats = useFormats()
  const money = useMoneyFormats()
  if (total === undefined) return <Figure name={t.conversions.refunds} value={undefined} />
  const [main, second, ...others] = total.values
  if (second !== undefined) {
    const names = others.map(
      ({ currency, value }) => `${currency} ${money.amount(value, currency)}`,
    )
    return (
      <Figure
        name={t.conversions.otherCurrencies}
        value={<Amount currency={second.currency} minor={second.value} />}
        below={names.length > 0 && <span className="cut">{formats.list(names)}</span>}
      />
    )
  }
  return (
    <Figure
      name={t.conversions.refunds}
      value={formats.number(total.refunds)}
      below={
        main !== undefined &&
        main.refunded !== 0 && (
          <span>
            {main.currency} {money.amount(main.refunded, main.currency)}
          </span>
        )
      }
    />
  )
}

function Amount({ currency, minor }: { currency: string; minor: number }) {
  const money = useMoneyFormats()
  return (
    <>
      <small>{currency}</small> {money.amount(minor, currency)}
    </>
  )
}
