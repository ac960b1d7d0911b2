import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  type ConversionResource,
  conversionListQuery,
  exportConversions,
} from '../../api/conversions.ts'
import { DownloadIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useChange } from '../../shell/use-faults.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useMoneyFormats } from '../../text/use-money-formats.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { LinkName } from '../../widgets/LinkName.tsx'
import { saveFile } from '../../widgets/save-file.ts'
import { Ago } from '../../widgets/Time.tsx'
import { type ConversionView, conversionFilter } from './conversion-view.ts'

/** The conversions themselves, the newest first, and all of them as a file. */
export function LastConversions({ view }: { view: ConversionView }) {
  const t = useText()
  const filter = conversionFilter(view)
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    conversionListQuery(filter),
  )
  const download = useChange(
    async () => saveFile(await exportConversions(filter), 'conversions.csv'),
    { keys: [] },
  )
  const rows = data?.pages.flatMap((page) => page.data) ?? []
  return (
    <section className="cell last-conversions">
      <div className="cell-h">
        <h2>{t.conversions.last}</h2>
        <div className="end">
          <Button
            size="small"
            look="bare"
            icon={DownloadIcon}
            isBusy={download.isPending}
            onClick={() => download.mutate()}
          >
            {t.conversions.downloadAll}
          </Button>
        </div>
      </div>
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {data !== undefined && rows.length === 0 && (
        <p className="muted bars-none">{t.conversions.noneInPeriod}</p>
      )}
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section className="sideways" tabIndex={0} aria-label={t.conversions.last}>
          <table className="money">
            <thead>
              <tr>
                <th scope="col">{t.conversions.dimension.event}</th>
                <th scope="col">{t.conversions.link}</th>
                <th scope="col">{t.conversions.visit}</th>
                <th scope="col">{t.conversions.value}</th>
                <th scope="col">{t.conversions.when}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((conversion) => (
                <ConversionRow
                  key={conversion.id}
                  conversion={conversion}
                  timezone={view.clicks.timezone}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {hasNextPage && (
        <button
          className="more"
          type="button"
          disabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {t.conversions.showOlder}
        </button>
      )}
    </section>
  )
}

type ConversionRowProps = { readonly conversion: ConversionResource; readonly timezone: string }

function ConversionRow({ conversion, timezone }: ConversionRowProps) {
  const { country } = useChartFormats(timezone)
  const money = useMoneyFormats()
  const { value, currency, variant, label } = conversion
  const visit = [label, variant, conversion.country && country(conversion.country)]
  return (
    <tr>
      <th scope="row">{conversion.event}</th>
      <td>
        <Link to="/links/$linkId" params={{ linkId: conversion.link_id }} preload={false}>
          <LinkName name={`${conversion.domain}/${conversion.key}`} />
        </Link>
      </td>
      <td className="muted">{visit.filter((part) => part !== null).join(', ')}</td>
      <td className="strong">
        {value !== null && currency !== null ? `${currency} ${money.amount(value, currency)}` : '–'}
      </td>
      <td>
        <Ago instant={new Date(conversion.occurred_at)} />
      </td>
    </tr>
  )
}
