import type { Readable } from 'node:stream'
import {
  type ClickReportResource,
  type ClicksQuery,
  clickReport,
  clicksQuery,
  type ExportClicksQuery,
  exportClicksQuery,
  exportedClick,
  liveClicksQuery,
  liveEvent,
} from '@terse/contract/clicks'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  type SparklinesQuery,
  type SparklinesResource,
  sparklines,
  sparklinesQuery,
} from '@terse/contract/sparklines'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type AuthenticationDependencies, actorOf, callerOf, mayStill } from '../identity/index.ts'
import { NOT_FOUND } from '../platform/http/api/responses.ts'
import { contentDisposition } from '../platform/http/content-disposition.ts'
import { STANDSTILL_TIMEOUT_MS } from '../platform/http/node-http.ts'
import type { Clock } from '../platform/time/clock.ts'
import { CLICK_DIMENSIONS } from './click.ts'
import { EXPORT_TYPES, exportStream } from './click-export.ts'
import type { LiveClicks } from './live-clicks.ts'
import { type Bots, clickFilter, linkFilter, weightOf } from './report/click-filter.ts'
import type { ClickReport, ClickSubject, Clicks, GroupedLink, Sparklines } from './report/clicks.ts'
import type { Counts } from './report/day-of-clicks.ts'
import { formatQuarters } from './report/period.ts'

const config = { mayTakeLong: true } as const
const tags = ['Clicks']

const REPORT =
  'Counts clicks by interval, or by the values of a dimension with `group_by`. Without parameters: the last 30 days by day.'
const EXPORT =
  'Streams single clicks in the order of their time, as CSV or as one JSON object a line.'

const exported = {
  description: 'One line for each click.',
  content: {
    'text/csv': { schema: z.string() },
    'application/x-ndjson': { schema: exportedClick.describe('Of each line.') },
  },
}

type ClickRouteDependencies = {
  readonly clicks: Clicks
  /** The instant before which all clicks are counted; null while counting keeps up. */
  readonly countedUntil: () => Promise<string | null>
}

export const clickRoutes: FastifyPluginAsyncZod<ClickRouteDependencies> = async (app, deps) => {
  const { clicks } = deps

  app.get(
    '/clicks',
    {
      config,
      schema: {
        tags,
        operationId: 'clicks.get',
        summary: 'Count clicks on all links',
        description: REPORT,
        headers: ifNoneMatchHeaders,
        querystring: clicksQuery,
        response: { 200: clickReport },
      },
    },
    async (request) => report(deps, request, { kind: 'workspace' }, request.query),
  )

  app.get(
    '/clicks/sparklines',
    {
      config,
      schema: {
        tags,
        operationId: 'clicks.getSparklines',
        summary: 'Count clicks on several links by day',
        description:
          'Counts the clicks of up to 100 links by day, in one answer. Without a period: the last 14 days.',
        headers: ifNoneMatchHeaders,
        querystring: sparklinesQuery,
        response: { 200: sparklines },
      },
    },
    async (request) => sparklinesOf(deps, request, request.query),
  )

  app.get(
    '/clicks/export',
    {
      config,
      schema: {
        tags,
        operationId: 'clicks.export',
        summary: 'Export clicks on all links',
        description: EXPORT,
        querystring: exportClicksQuery,
        response: { 200: exported },
      },
    },
    async (request, reply) =>
      sendExport(clicks, { request, reply }, { kind: 'workspace' }, request.query),
  )

  for (const kind of ['link', 'domain'] as const) {
    const subject = kind === 'link' ? 'a link' : 'the links of a domain'

    app.get(
      `/${kind}s/:id/clicks`,
      {
        config,
        schema: {
          tags,
          operationId: `${kind}s.getClicks`,
          summary: `Count clicks on ${subject}`,
          description: REPORT,
          params: idParams,
          headers: ifNoneMatchHeaders,
          querystring: clicksQuery,
          response: { 200: clickReport },
        },
      },
      async (request) => report(deps, request, { kind, id: request.params.id }, request.query),
    )

    app.get(
      `/${kind}s/:id/clicks/export`,
      {
        config,
        schema: {
          tags,
          operationId: `${kind}s.exportClicks`,
          summary: `Export clicks on ${subject}`,
          description: EXPORT,
          params: idParams,
          querystring: exportClicksQuery,
          response: { 200: exported },
        },
      },
      async (request, reply) =>
        sendExport(clicks, { request, reply }, { kind, id: request.params.id }, request.query),
    )
  }
}

async function sparklinesOf(
  { clicks, countedUntil }: ClickRouteDependencies,
  request: FastifyRequest,
  { link, bots = 'exclude', ...period }: SparklinesQuery,
): Promise<SparklinesResource> {
  // Before the clicks: what is counted in between is newer than this.
  const until = await countedUntil()
  const found = await clicks.sparklines(actorOf(request), link, period, request)
  return presentSparklines(found, bots, until)
}

async function report(
  { clicks, countedUntil }: ClickRouteDependencies,
  request: FastifyRequest,
  subject: ClickSubject,
  query: ClicksQuery,
): Promise<ClickReportResource> {
  const { bots = 'exclude' } = query
  const { signal } = request
  const wanted = {
    ...query,
    filter: clickFilter(query, CLICK_DIMENSIONS),
    bots,
    groupBy: query.group_by,
    links: query.link,
    linkFilter: linkFilter(query),
  }
  // As for sparklines.
  const until = await countedUntil()
  const found = await clicks.report(actorOf(request), subject, wanted, { signal })
  return presentReport(found, bots, until)
}

async function sendExport(
  clicks: Clicks,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  subject: ClickSubject,
  query: ExportClicksQuery,
): Promise<FastifyReply> {
  const { format = 'csv', bots = 'exclude' } = query
  const { raw, signal } = request
  const filter = clickFilter(query, CLICK_DIMENSIONS)
  const batches = clicks.export(actorOf(request), subject, { ...query, filter, bots }, { signal })
  const stream = await exportStream(batches, format, {
    // A selective filter may send nothing for long; restart the idle timeout at each batch.
    onBatch: () => {
      // A call from within this process has no connection.
      if (callerOf(request) !== undefined) return
      raw.setTimeout(raw.socket.timeout ?? STANDSTILL_TIMEOUT_MS)
    },
    onError: (error) => request.log.warn({ err: error }, 'closing a click export failed'),
  })
  const name = subject.kind === 'workspace' ? 'clicks' : `clicks-${subject.kind}-${subject.id}`
  reply
    .header('Content-Type', EXPORT_TYPES[format])
    .header('Content-Disposition', contentDisposition('attachment', `${name}.${format}`))
  if (request.method === 'HEAD') stream.destroy()
  return reply.send(request.method === 'HEAD' ? undefined : stream)
}

/**
 * Converts a report to its API representation, with the counts that `bots` selects.
 *
 * @param counted_until as in the API
 */
function presentReport(
  report: ClickReport,
  bots: Bots,
  counted_until: string | null,
): ClickReportResource {
  const { quarters, zone, interval, total, opening } = report
  const [from = '', to = ''] = formatQuarters([quarters.from, quarters.to], zone)
  const head = { from, to, timezone: zone, interval: interval ?? null, counted_until, opening }
  const totals = { clicks: total.persons, bots: total.others, visitors: total.visitors }

  if (report.groupBy === undefined) {
    const starts = startsOf(report.points, zone)
    const data = report.points.map((point, nth) => ({
      start: starts[nth] ?? '',
      ...presentCounts(point, bots),
      ...(bots !== 'only' && { visitors: point.visitors }),
    }))
    return { ...head, group_by: null, total: totals, data }
  }

  const starts = startsOf(report.groups[0]?.points ?? [], zone)
  const data = report.groups.map(({ value, points, ...counts }) => ({
    value: value === '' ? null : value,
    ...(report.groupBy === 'link' && { link: presentLink(report.links.get(value)) }),
    ...presentCounts(counts, bots),
    ...(points !== undefined && {
      points: points.map((point, nth) => ({
        start: starts[nth] ?? '',
        ...presentCounts(point, bots),
      })),
    }),
  }))
  const rest = { values: report.rest.values, ...presentCounts(report.rest, bots) }
  return { ...head, group_by: report.groupBy, total: totals, data, rest }
}

function presentLink(link: GroupedLink | undefined) {
  if (link === undefined) return null
  const { id, domain, key, url } = link
  return { id, domain, key, url }
}

function presentSparklines(
  { quarters, zone, starts, links }: Sparklines,
  bots: Bots,
  counted_until: string | null,
): SparklinesResource {
  const [from = '', to = ''] = formatQuarters([quarters.from, quarters.to], zone)
  const data = links.map(({ id, points }) => {
    const clicks = points.map((point) => weightOf(point, bots))
    return { link_id: id, total: clicks.reduce((sum, count) => sum + count, 0), clicks }
  })
  const days = [...formatQuarters(starts, zone)]
  return { from, to, timezone: zone, counted_until, starts: days, data }
}

function startsOf(points: readonly { readonly start: number }[], zone: string): readonly string[] {
  return formatQuarters(
    points.map(({ start }) => start),
    zone,
  )
}

function presentCounts(
  { persons, others }: Counts,
  bots: Bots,
): { clicks?: number; bots?: number } {
  return {
    ...(bots !== 'only' && { clicks: persons }),
    ...(bots !== 'exclude' && { bots: others }),
  }
}

type LiveRouteDependencies = AuthenticationDependencies & {
  readonly liveClicks: LiveClicks
}

const DESCRIPTION =
  'Sends server-sent events until the client leaves: first `start` with the clicks of the last 30 minutes, then every second at most `clicks` with the new ones. A comment comes every 15 s. `end` is the last event; connect again after a few seconds unless its reason is `unauthorized`. Each click is sent once, and late ones are possible.'

export const liveRoutes: FastifyPluginAsyncZod<LiveRouteDependencies> = async (app, deps) => {
  app.get(
    '/clicks/live',
    {
      config: { mayTakeLong: true, isEndless: true },
      schema: {
        tags: ['Clicks'],
        operationId: 'clicks.live',
        summary: 'Watch clicks as they come',
        description: DESCRIPTION,
        querystring: liveClicksQuery,
        response: {
          ...NOT_FOUND,
          200: {
            description: 'A stream of events.',
            content: { 'text/event-stream': { schema: liveEvent.describe('Of each event.') } },
          },
        },
      },
    },
    async (request, reply) => {
      if (request.method === 'HEAD') return sendEvents(reply, undefined, deps.clock)
      const text = await deps.liveClicks.open(actorOf(request), request.query, () =>
        mayStill(deps, request),
      )
      return sendEvents(reply, text, deps.clock)
    },
  )
}

function sendEvents(reply: FastifyReply, text: Readable | undefined, clock: Clock): FastifyReply {
  reply.headers({
    'Content-Type': 'text/event-stream',
    // A proxy that collected the events would delay them.
    'X-Accel-Buffering': 'no',
    // The dashboard compares its own clock with this one, which dates the clicks.
    Date: new Date(clock.nowMicros() / 1_000).toUTCString(),
  })
  return reply.send(text)
}
