import { useQuery, useQueryClient } from '@tanstack/react-query'
import { conversionRate } from '@terse/contract/rates'
import { type ReactNode, useId, useState } from 'react'
import type {
  ConversionGroup,
  ConversionGrouping,
  ConversionReportResource,
} from '../../api/conversions.ts'
import { DownloadIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useMoneyFormats } from '../../text/use-money-formats.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { LinkName } from '../../widgets/LinkName.tsx'
import { type Cell, downloadCsv } from '../../widgets/save-file.ts'
import { TabList, tabId } from '../../widgets/TabList.tsx'
import { toggled } from '../analytics/analytics-search.ts'
import { ChangeLink } from '../analytics/ChangeLink.tsx'
import { groupName } from '../analytics/groups.ts'
import { useReport } from '../analytics/reports.ts'
import { useRuleNames } from '../analytics/rule-names.ts'
import {
  CONVERSION_GROUPS_MAX,
  type ConversionView,
  clicksByValue,
  clicksOfGroupsQuery,
  conversionGroupsQuery,
  isFilter,
  isRated,
  keyOf,
  netInUnit,
  wantedValues,
} from './conversion-view.ts'

const ROWS = 8

type BreakdownProps = {
  readonly view: ConversionView
  /** Of the values that are shown; undefined without any. */
  readonly currency: string | undefined
  /** More than one are tabs. */
  readonly groupings: readonly [ConversionGrouping, ...ConversionGrouping[]]
  readonly className: string
}

/** The values of a dimension with the most conversions, with rate and value. A row shows only its conversions. */
export function ConversionBreakdown({ view, currency, groupings, className }: BreakdownProps) {
  const t = useText()
  const panelId = useId()
  const [grouping, setGrouping] = useState<ConversionGrouping>(groupings[0])
  const [isOpen, setOpen] = useState(false)
  const limit = isOpen ? CONVERSION_GROUPS_MAX : ROWS
  const { data: answer, error, isStale } = useReport(conversionGroupsQuery(view, grouping, limit))
  // Until the values of another tab have come, those of the one before must not have their names.
  const data = answer?.group_by === grouping ? answer : undefined
  const left = data?.rest?.values_left ?? 0
  const hasTabs = groupings.length > 1
  return (
    <section className={`cell ${className}`}>
      <div className="cell-h">
        {hasTabs ? (
          <TabList
            label={t.conversions.by}
            className="tabs"
            panelId={panelId}
            value={grouping}
            tabs={groupings.map((one) => ({ value: one, content: nameOf(t, one) }))}
            onChange={(one) => {
              setOpen(false)
              setGrouping(one)
            }}
          />
        ) : (
          <h2>{nameOf(t, grouping)}</h2>
        )}
        <div className="end">
          <CsvButton view={view} grouping={grouping} />
        </div>
      </div>
      <div
        id={panelId}
        aria-busy={isStale}
        {...(hasTabs && { role: 'tabpanel', 'aria-labelledby': tabId(panelId, grouping) })}
      >
        {data === undefined && error !== null && <LoadFailure error={error} />}
        {data !== undefined && (
          <MoneyTable
            view={view}
            grouping={grouping}
            currency={currency}
            groups={data.groups ?? []}
          />
        )}
        {left > 0 && (
          <button className="more" type="button" onClick={() => setOpen(true)}>
            {t.conversions.showMore(left)}
          </button>
        )}
      </div>
    </section>
  )
}

type Catalogue = ReturnType<typeof useText>

function nameOf(t: Catalogue, grouping: ConversionGrouping): string {
  return grouping === 'event' || grouping === 'currency'
    ? t.conversions.dimensions[grouping]
    : t.analytics.dimensions[grouping]
}

type MoneyTableProps = Pick<BreakdownProps, 'view' | 'currency'> & {
  readonly grouping: ConversionGrouping
  readonly groups: readonly ConversionGroup[]
}

function MoneyTable({ view, grouping, currency, groups }: MoneyTableProps) {
  const t = useText()
  const clicks = useClicks(view, grouping)
  return (
    <table className="money">
      <thead>
        <tr>
          <th scope="col">
            {grouping === 'event' || grouping === 'currency'
              ? t.conversions.dimension[grouping]
              : t.analytics.dimension[grouping]}
          </th>
          <th scope="col">{t.conversions.short}</th>
          {isRated(grouping) && <th scope="col">{t.conversions.rate}</th>}
          {currency !== undefined && (
            <th scope="col">
              {t.conversions.value}, {currency}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <Row
            key={keyOf(group)}
            view={view}
            grouping={grouping}
            group={group}
            currency={currency}
            clicks={clicks?.get(keyOf(group)) ?? (clicks && 0)}
          />
        ))}
        {groups.length === 0 && (
          <tr>
            <td className="muted">{t.common.none}</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

/** The clicks of each value; undefined where they are not known. */
function useClicks(
  view: ConversionView,
  grouping: ConversionGrouping,
): ReadonlyMap<string, number> | undefined {
  const rated = isRated(grouping) ? grouping : 'link'
  const { data } = useQuery({
    ...clicksOfGroupsQuery(view, rated),
    enabled: isRated(grouping),
  })
  return data?.group_by === grouping ? clicksByValue(data.data) : undefined
}

type RowProps = Pick<BreakdownProps, 'view' | 'currency'> & {
  readonly grouping: ConversionGrouping
  readonly group: ConversionGroup
  readonly clicks: number | undefined
}

function Row({ view, grouping, group, currency, clicks }: RowProps) {
  const formats = useChartFormats(view.clicks.timezone)
  const money = useMoneyFormats()
  return (
    <tr>
      <th scope="row">
        <Name view={view} grouping={grouping} group={group} />
      </th>
      <td>{formats.number(group.conversions)}</td>
      {isRated(grouping) && (
        <td>
          <RateText conversions={group.visits} clicks={clicks} timezone={view.clicks.timezone} />
        </td>
      )}
      {currency !== undefined && (
        <td className="strong">{money.amount(netInUnit(group, currency), currency)}</td>
      )}
    </tr>
  )
}

function Name({ view, grouping, group }: Omit<RowProps, 'currency' | 'clicks'>) {
  const t = useText()
  const formats = useChartFormats(view.clicks.timezone)
  const ruleName = useRuleNames(view.clicks.scope)
  const value = keyOf(group)
  if (grouping === 'event' || grouping === 'currency') {
    return <Choice view={view} grouping={grouping} value={value} name={value || t.common.none} />
  }
  const { link } = group
  const named = { ...group, clicks: 0, link: link ?? undefined }
  const name = ruleName(grouping, group.value) ?? groupName(grouping, named, formats, t)
  return (
    <Choice view={view} grouping={grouping} value={value} name={name}>
      {grouping === 'link' ? <LinkName name={name} /> : name}
    </Choice>
  )
}

type ChoiceProps = {
  readonly view: ConversionView
  readonly grouping: ConversionGrouping
  readonly value: string
  readonly name: string
  readonly children?: ReactNode
}

/** Shows only the conversions of a value, or all again. */
function Choice({ view, grouping, value, name, children = name }: ChoiceProps) {
  if (!isFilter(grouping)) return <span title={name}>{children}</span>
  const wanted = wantedValues(view, grouping)
  const isSet = wanted.includes(value)
  return (
    <ChangeLink
      change={{ [grouping]: toggled(wanted, value) }}
      className={isSet ? 'on' : ''}
      aria-current={isSet ? 'true' : 'false'}
      title={name}
    >
      {children}
    </ChangeLink>
  )
}

type RateTextProps = {
  readonly conversions: number
  readonly clicks: number | undefined
  readonly timezone: string
}

/** A rate with its interval, where there are enough to say. */
function RateText({ conversions, clicks, timezone }: RateTextProps) {
  const t = useText()
  const formats = useChartFormats(timezone)
  if (clicks === undefined) return '–'
  const rate = conversionRate(conversions, clicks)
  if (rate === null) return <span className="muted">{t.conversions.tooFew}</span>
  return (
    <>
      <span className="range">
        {t.conversions.range(formats.share(rate.low), formats.share(rate.high))}
      </span>
      {formats.share(rate.value)}
    </>
  )
}

function CsvButton({ view, grouping }: { view: ConversionView; grouping: ConversionGrouping }) {
  const t = useText()
  const client = useQueryClient()
  async function download() {
    const query = conversionGroupsQuery(view, grouping, CONVERSION_GROUPS_MAX)
    const { groups } = await client.fetchQuery(query)
    downloadCsv(`conversions-by-${grouping}`, csvOf(grouping, groups ?? []))
  }
  return (
    <IconButton
      icon={DownloadIcon}
      small
      label={t.analytics.downloadOf(nameOf(t, grouping))}
      // The outage note or the list itself says why nothing could be loaded.
      onClick={() => void download().catch(() => undefined)}
    />
  )
}

/** A line for each value and currency; amounts are in minor units, as in the API. */
function csvOf(
  grouping: ConversionGrouping,
  groups: readonly ConversionGroup[],
): readonly (readonly Cell[])[] {
  const head = [grouping, 'conversions', 'refunds', 'visits', 'currency', 'value', 'refunded']
  const rows = groups.flatMap((group) => {
    const name = group.link ? `${group.link.domain}/${group.link.key}` : group.value
    const counts = [name, group.conversions, group.refunds, group.visits]
    if (group.values.length === 0) return [[...counts, null, null, null]]
    return group.values.map(({ currency, value, refunded }) => [
      ...counts,
      ...[currency, value, refunded],
    ])
  })
  return [head, ...rows]
}

type CurrencyListProps = {
  readonly view: ConversionView
  readonly total: ConversionReportResource['total'] | undefined
}

/** What conversions are worth in each currency, and what was paid back. */
export function CurrencyList({ view, total }: CurrencyListProps) {
  const t = useText()
  const formats = useChartFormats(view.clicks.timezone)
  const money = useMoneyFormats()
  const values = total?.values ?? []
  const refunded = values.filter(({ refunds }) => refunds > 0)
  return (
    <section className="cell w2">
      <div className="cell-h">
        <h2>{t.conversions.dimensions.currency}</h2>
        <div className="end">
          <CsvButton view={view} grouping="currency" />
        </div>
      </div>
      <table className="money">
        <thead>
          <tr>
            <th scope="col">{t.conversions.dimension.currency}</th>
            <th scope="col">{t.conversions.short}</th>
            <th scope="col">{t.conversions.value}</th>
          </tr>
        </thead>
        <tbody>
          {values.map(({ currency, conversions, value }) => (
            <tr key={currency}>
              <th scope="row">
                <Choice
                  view={view}
                  grouping="currency"
                  value={currency}
                  name={money.name(currency)}
                >
                  <b>{currency}</b> {money.name(currency)}
                </Choice>
              </th>
              <td>{formats.number(conversions)}</td>
              <td className="strong">{money.amount(value, currency)}</td>
            </tr>
          ))}
          {total !== undefined && values.length === 0 && (
            <tr>
              <td className="muted">{t.common.none}</td>
            </tr>
          )}
        </tbody>
      </table>
      {refunded.length > 0 && (
        <>
          <div className="cell-h mt-3">
            <h2>{t.conversions.refunds}</h2>
          </div>
          <table className="money" aria-label={t.conversions.refunds}>
            <tbody>
              {refunded.map(({ currency, refunds, refunded: amount }) => (
                <tr key={currency}>
                  <th scope="row">
                    <b>{currency}</b> {money.name(currency)}
                  </th>
                  <td>{formats.number(refunds)}</td>
                  <td className="strong">{money.amount(amount, currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  )
}
