import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import type { Grouping } from '../../api/click-reads.ts'
import { type ClickGroup, GROUPS_MAX } from '../../api/clicks.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import {
  DesktopIcon,
  DownloadIcon,
  FilterIcon,
  PhoneIcon,
  TabletIcon,
  TvIcon,
} from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { errorText } from '../../shell/use-faults.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { LinkName } from '../../widgets/LinkName.tsx'
import { AfterAMoment } from '../../widgets/Loading.tsx'
import { downloadCsv } from '../../widgets/save-file.ts'
import { TabList, tabId } from '../../widgets/TabList.tsx'
import { toggled } from './analytics-search.ts'
import { ChangeLink } from './ChangeLink.tsx'
import {
  breakdownQuery,
  countOf,
  groupName,
  missingValues,
  rowsWithSet,
  setValuesQuery,
  totalOf,
  useLinkNames,
} from './groups.ts'
import { useReport } from './reports.ts'
import { useRuleNames } from './rule-names.ts'
import { type View, wantedOf } from './view.ts'

const DEVICE_ICONS: Readonly<Record<string, IconNode>> = {
  desktop: DesktopIcon,
  mobile: PhoneIcon,
  tablet: TabletIcon,
  tv: TvIcon,
}

type BreakdownProps = {
  readonly view: View
  /** More than one are tabs. */
  readonly groupings: readonly [Grouping, ...Grouping[]]
  readonly rows: number
  readonly className: string
}

/** The values of a dimension, links or tags with the most clicks. Each is a link that shows only its clicks. */
export function Breakdown({ view, groupings, rows, className }: BreakdownProps) {
  const t = useText()
  const panelId = useId()
  const [grouping, setGrouping] = useState<Grouping>(groupings[0])
  const [isOpen, setOpen] = useState(false)
  const { data: answer, error, isStale } = useReport(breakdownQuery(view, grouping, rows))
  // Until the values of another tab have come, those of the one before must not have their names.
  const data = answer?.group_by === grouping ? answer : undefined
  const missing = useMissingGroups(view, grouping, data?.data, rows)
  const name = t.analytics.dimensions[grouping]
  const total = data === undefined ? 0 : totalOf(data.total, view)
  const values = (data?.data.length ?? 0) + (data?.rest.values ?? 0)
  const hasTabs = groupings.length > 1
  return (
    <section className={`cell ${className}`}>
      <div className="cell-h">
        {hasTabs ? (
          <TabList
            label={t.analytics.value}
            className="tabs"
            panelId={panelId}
            value={grouping}
            tabs={groupings.map((one) => ({ value: one, content: t.analytics.dimensions[one] }))}
            onChange={setGrouping}
          />
        ) : (
          <h2>{name}</h2>
        )}
        <div className="end">
          {view.measure === 'visitors' && <span className="cut">{t.analytics.byClicks}</span>}
          <CsvButton view={view} grouping={grouping} />
        </div>
      </div>
      <div
        id={panelId}
        {...(hasTabs && { role: 'tabpanel', 'aria-labelledby': tabId(panelId, grouping) })}
      >
        <div className="bars" aria-busy={isStale} data-rows={rows}>
          {data === undefined && error !== null && <Failure error={error} />}
          {data === undefined && error === null && (
            <AfterAMoment>
              <BarsSkeleton rows={rows} />
            </AfterAMoment>
          )}
          {data !== undefined &&
            rowsWithSet(data.data, missing, wantedOf(view, grouping), rows).map((group) => (
              <Bar
                key={group.value ?? ''}
                view={view}
                grouping={grouping}
                group={group}
                largest={countOf(data.data[0])}
                total={total}
              />
            ))}
          {data?.data.length === 0 && <p className="muted bars-none">{t.common.none}</p>}
        </div>
        <button
          className="more"
          type="button"
          aria-haspopup="dialog"
          disabled={values === 0}
          aria-label={`${t.analytics.all(values)}: ${name}`}
          onClick={() => setOpen(true)}
        >
          {t.analytics.all(values)}
        </button>
      </div>
      {isOpen && <AllValues view={view} grouping={grouping} onClose={() => setOpen(false)} />}
    </section>
  )
}

/** The values that are set and not among the first of a list, once they are counted. */
function useMissingGroups(
  view: View,
  grouping: Grouping,
  groups: readonly ClickGroup[] | undefined,
  rows: number,
): readonly ClickGroup[] {
  const missing = groups === undefined ? [] : missingValues(groups, wantedOf(view, grouping), rows)
  const { data, isPlaceholderData } = useQuery({
    ...setValuesQuery(view, grouping),
    enabled: missing.length > 0,
  })
  if (data === undefined || isPlaceholderData) return []
  const counted = new Map(data.data.map((group) => [group.value ?? '', group]))
  return missing.map((value) => counted.get(value) ?? { value, clicks: 0 })
}

type BarProps = {
  readonly view: View
  readonly grouping: Grouping
  readonly group: ClickGroup
  readonly largest: number
  readonly total: number
}

function Bar({ view, grouping, group, largest, total }: BarProps) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const value = group.value ?? ''
  const [linkName] = useLinkNames(grouping === 'link' && group.link === undefined ? [value] : [])
  const ruleName = useRuleNames(view.scope)
  const name = linkName ?? ruleName(grouping, group.value) ?? groupName(grouping, group, formats, t)
  const wanted = wantedOf(view, grouping)
  const isSet = wanted.includes(value)
  const count = countOf(group)
  return (
    <ChangeLink
      change={{ [grouping]: toggled(wanted, value) }}
      className={isSet ? 'on' : ''}
      aria-current={isSet ? 'true' : 'false'}
      style={{ '--w': `${largest === 0 ? 0 : (count / largest) * 100}%` } as React.CSSProperties}
    >
      {grouping === 'country' && <span className="cc">{value === '' ? '–' : value}</span>}
      {grouping === 'device' && <Icon of={DEVICE_ICONS[value] ?? []} />}
      {grouping === 'link' && isSet && wanted.length > 1 && (
        <span className={`key s${wanted.indexOf(value) + 1}`} aria-hidden />
      )}
      {grouping === 'link' ? (
        <LinkName name={name} />
      ) : (
        <span className="cut" title={name}>
          {name}
        </span>
      )}
      <span className="go">
        <Icon of={FilterIcon} />
      </span>
      <span className="v">{formats.number(count)}</span>
      <span className="pc">{formats.share(total === 0 ? 0 : count / total)}</span>
    </ChangeLink>
  )
}

function CsvButton({ view, grouping }: { view: View; grouping: Grouping }) {
  const t = useText()
  const client = useQueryClient()
  async function download() {
    const { data } = await client.fetchQuery(breakdownQuery(view, grouping, GROUPS_MAX))
    const measure = view.measure === 'bots' ? 'bots' : 'clicks'
    const nameOf = ({ value, link }: ClickGroup) => (link ? `${link.domain}/${link.key}` : value)
    const rows = data.map((group) => [nameOf(group), countOf(group)])
    downloadCsv(`clicks-by-${grouping}`, [[grouping, measure], ...rows])
  }
  return (
    <IconButton
      icon={DownloadIcon}
      small
      label={t.analytics.downloadOf(t.analytics.dimensions[grouping])}
      // The outage note or the chart itself says why nothing could be loaded.
      onClick={() => void download().catch(() => undefined)}
    />
  )
}

/**
 * Two dimensions together are counted from single clicks, which are limited. An outage has its own
 * note.
 */
function Failure({ error }: { error: Error }) {
  const t = useText()
  if (error instanceof ApiError && error.isTemporary) return null
  const isRefused = error instanceof ApiError && error.status === 422
  return <p className="muted bars-none">{isRefused ? t.analytics.tooMuch : errorText(error, t)}</p>
}

function BarsSkeleton({ rows }: { rows: number }) {
  return Array.from({ length: rows }, (_, nth) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: all are the same
    <span key={nth} className="sk bar" style={{ width: `${100 - nth * (70 / rows)}%` }} />
  ))
}

type AllValuesProps = {
  readonly view: View
  readonly grouping: Grouping
  readonly onClose: () => void
}

/** All values of a dimension, links or tags as a table. */
function AllValues({ view, grouping, onClose }: AllValuesProps) {
  const t = useText()
  const ruleName = useRuleNames(view.scope)
  const formats = useChartFormats(view.timezone)
  const { data, error } = useQuery(breakdownQuery(view, grouping, GROUPS_MAX))
  const wanted = wantedOf(view, grouping)
  const isSet = ({ value }: ClickGroup) => wanted.includes(value ?? '')
  const title = t.analytics.dimensions[grouping]
  const total = data === undefined ? 0 : totalOf(data.total, view)
  const share = (count: number) => formats.share(total === 0 ? 0 : count / total)
  return (
    <Dialog onClose={onClose} title={title}>
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="scroll all-values" tabIndex={0} aria-label={title}>
        <table className="dt">
          <caption className="sr">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{t.analytics.dimension[grouping]}</th>
              <th scope="col">
                {t.analytics.measures[view.measure === 'bots' ? 'bots' : 'clicks']}
              </th>
              <th scope="col">{t.analytics.share}</th>
            </tr>
          </thead>
          <tbody>
            {data?.data.map((group) => (
              <tr key={group.value ?? ''} className={isSet(group) ? 'on' : ''}>
                <th scope="row">
                  <ChangeLink
                    change={{ [grouping]: toggled(wanted, group.value ?? '') }}
                    className="link"
                    aria-current={isSet(group) ? 'true' : 'false'}
                    onClick={onClose}
                  >
                    {ruleName(grouping, group.value) ?? groupName(grouping, group, formats, t)}
                  </ChangeLink>
                </th>
                <td>{formats.number(countOf(group))}</td>
                <td>{share(countOf(group))}</td>
              </tr>
            ))}
            {data !== undefined && data.rest.values > 0 && (
              <tr>
                <th scope="row">{t.analytics.rest(data.rest.values)}</th>
                <td>{formats.number(countOf(data.rest))}</td>
                <td>{share(countOf(data.rest))}</td>
              </tr>
            )}
          </tbody>
        </table>
      </section>
    </Dialog>
  )
}
