import { Link } from '@tanstack/react-router'
import { useEffect, useId, useState, useSyncExternalStore } from 'react'
import {
  followClicks,
  type LiveClick,
  type LiveListener,
  type LiveQuery,
} from '../../api/live-clicks.ts'
import { DownloadIcon, TableIcon } from '../../icons/index.ts'
import { noteNewClicks } from '../../shell/refresh-figures.ts'
import { type ChartFormats, useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { LinkName } from '../../widgets/LinkName.tsx'
import { Skeleton } from '../../widgets/Loading.tsx'
import { downloadCsv } from '../../widgets/save-file.ts'
import { valueName } from './groups.ts'
import { clicksOf, type LiveData, liveData, movedTo, withClicks } from './live-data.ts'
import type { View } from './view.ts'

/** The last 30 minutes, and each click as it comes: of those that the charts around it show. */
export function LiveView({ view }: { view: View }) {
  const { links, domain, tags } = view.scope
  const query: LiveQuery = {
    ...view.filter,
    ...(links.length > 0 && { link: links }),
    ...(links.length !== 1 && domain !== undefined && { domain }),
    ...(tags.length > 0 && { tag: tags }),
    bots: view.measure === 'bots' ? 'only' : 'exclude',
  }
  return <Live key={JSON.stringify(query)} view={view} query={query} />
}

function Live({ view, query }: { view: View; query: LiveQuery }) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const titleId = useId()
  const [isTable, setTable] = useState(false)
  const { data, state } = useLiveData(query)
  const measure = t.analytics.measures[view.measure === 'bots' ? 'bots' : 'clicks']
  return (
    <section className="live" aria-labelledby={titleId}>
      <div className="live-sum">
        <div className="live-h">
          <span className={state === 'open' ? 'dot pulse' : 'dot off'} />
          <h2 id={titleId}>{t.live.title}</h2>
          <div className="end">
            <IconButton
              icon={TableIcon}
              small
              className={isTable ? 'on' : ''}
              aria-pressed={isTable}
              label={isTable ? t.live.showChart : t.live.showTable}
              onClick={() => setTable(!isTable)}
            />
            <IconButton
              icon={DownloadIcon}
              small
              label={t.analytics.downloadOf(t.live.title)}
              disabled={data === undefined}
              onClick={() => data && downloadCsv('clicks-by-minute', csvRows(data))}
            />
          </div>
        </div>
        <p className="live-n">
          <b>{data === undefined ? <Skeleton width={56} /> : formats.number(clicksOf(data))}</b>
          <span>{measure}</span>
          {state === 'retrying' && <span className="state">{t.live.reconnecting}</span>}
          {state === 'refused' && <span className="state">{t.live.refused}</span>}
        </p>
        {data !== undefined && !isTable && (
          <MinuteBars data={data} isStale={state !== 'open'} formats={formats} />
        )}
        {data !== undefined && isTable && (
          <MinuteTable data={data} measure={measure} formats={formats} />
        )}
      </div>
      <NewestClicks data={data} formats={formats} />
    </section>
  )
}

type MinutesProps = { readonly data: LiveData; readonly formats: ChartFormats }

function MinuteBars({ data, isStale, formats }: MinutesProps & { isStale: boolean }) {
  const t = useText()
  const { minutes } = data
  const most = Math.max(1, ...minutes.map(({ clicks }) => clicks))
  return (
    <>
      <div
        className={isStale ? 'minutes stale' : 'minutes'}
        role="img"
        aria-label={t.live.chart(clicksOf(data), most)}
      >
        {minutes.map(({ startMs, clicks }) => (
          <i
            key={startMs}
            style={{ height: `${(clicks / most) * 100}%` }}
            title={`${formats.hour(new Date(startMs))}: ${formats.number(clicks)}`}
          />
        ))}
      </div>
      <div className="minutes-x" aria-hidden>
        <span>{formats.hour(new Date(minutes[0]?.startMs ?? 0))}</span>
        <span>{t.analytics.now}</span>
      </div>
    </>
  )
}

function MinuteTable({ data, measure, formats }: MinutesProps & { measure: string }) {
  const t = useText()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll" tabIndex={0} aria-label={t.live.title}>
      <table className="dt">
        <caption className="sr">{t.live.title}</caption>
        <thead>
          <tr>
            <th scope="col">{t.live.minute}</th>
            <th scope="col">{measure}</th>
          </tr>
        </thead>
        <tbody>
          {data.minutes.toReversed().map(({ startMs, clicks }) => (
            <tr key={startMs}>
              <th scope="row">{formats.hour(new Date(startMs))}</th>
              <td>{formats.number(clicks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function NewestClicks({ data, formats }: { data: LiveData | undefined; formats: ChartFormats }) {
  const t = useText()
  if (data === undefined) return <div className="live-none" />
  if (data.rows.length === 0) {
    return (
      <div className="live-none">
        <b>{t.live.empty}</b>
        <span>{t.live.emptyHint}</span>
      </div>
    )
  }
  return (
    <ol className="live-rows" aria-label={t.live.newest}>
      {data.rows.map(({ nth, click }) => (
        <Click key={nth} click={click} formats={formats} />
      ))}
    </ol>
  )
}

function Click({ click, formats }: { click: LiveClick; formats: ChartFormats }) {
  const t = useText()
  const { at, link_id, domain, key, count } = click
  const instant = new Date(at)
  return (
    <li>
      <time dateTime={instant.toISOString()}>{formats.second(instant)}</time>
      <span className="name">
        {link_id === null ? (
          <span className="cut">{t.analytics.deletedLink}</span>
        ) : (
          <Link to="/links/$linkId" params={{ linkId: link_id }} className="min-w-0">
            <LinkName name={`${domain}/${key}`} />
          </Link>
        )}
        {count > 1 && <span className="muted">× {formats.number(count)}</span>}
      </span>
      {(['country', 'device', 'referrer'] as const).map((dimension) => {
        const name = valueName(dimension, click[dimension], formats, t)
        return (
          <span key={dimension} className={`cut ${dimension}`} title={name}>
            <span className="sr">{t.analytics.dimension[dimension]}: </span>
            {name}
          </span>
        )
      })}
    </li>
  )
}

function csvRows({ minutes }: LiveData) {
  const rows = minutes.map(({ startMs, clicks }) => [new Date(startMs).toISOString(), clicks])
  return [['start', 'clicks'], ...rows]
}

const TICK_MS = 1_000

type LiveState = {
  readonly data: LiveData | undefined
  /** While it is not `open`, minutes pass of which nothing is known, so the data stays as it is. */
  readonly state: 'opening' | 'open' | 'retrying' | 'refused'
  /** How far the clock of the service is ahead of this one. */
  readonly aheadMs: number
}

/** Follows clicks while the tab is visible. */
function useLiveData(initial: LiveQuery): LiveState {
  // A component is made for each query.
  const [query] = useState(initial)
  const [live, setLive] = useState<LiveState>({ data: undefined, state: 'opening', aheadMs: 0 })
  const isVisible = useSyncExternalStore(
    subscribeToVisibility,
    () => document.visibilityState === 'visible',
  )
  useEffect(() => {
    if (!isVisible) return
    const leave = new AbortController()
    const change = (state: LiveState['state']) => setLive((before) => ({ ...before, state }))
    const listener: LiveListener = {
      onStart: (start, aheadMs) => setLive({ data: liveData(start), state: 'open', aheadMs }),
      onClicks(batch) {
        noteNewClicks()
        setLive((before) => {
          const data = current(before).data
          return { ...before, data: data && withClicks(data, batch) }
        })
      },
      onFailure: () => change('retrying'),
      onRefusal: () => change('refused'),
    }
    void followClicks(query, listener, leave.signal)
    const timer = setInterval(() => setLive(current), TICK_MS)
    return () => {
      clearInterval(timer)
      leave.abort()
      change('opening')
    }
  }, [query, isVisible])
  return live
}

/** The same object while nothing changes, so that nothing is rendered. */
function current(live: LiveState): LiveState {
  if (live.data === undefined || live.state !== 'open') return live
  const data = movedTo(live.data, Date.now() + live.aheadMs)
  return data === live.data ? live : { ...live, data }
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
