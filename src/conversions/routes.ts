import {
  type ConversionPageResource,
  type ConversionReportResource,
  type ConversionResource,
  type ConversionsQuery,
  conversionSchema,
  conversionsAnswer,
  conversionsBody,
  conversionsEnvelope,
  conversionsList,
  conversionsQuery,
  exportConversionsQuery,
} from '@terse/contract/conversions'
import { csvLine } from '@terse/contract/csv'
import { idempotencyHeaders, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import type { Idempotency } from '../platform/http/api/idempotency.ts'
import { lineStream } from '../platform/http/api/line-stream.ts'
import { REFUSED, tooLargeFor } from '../platform/http/api/responses.ts'
import { validate } from '../platform/http/api/validation.ts'
import { uncountedPage, type WalkContext } from '../platform/http/api/walk.ts'
import { contentDisposition } from '../platform/http/content-disposition.ts'
import type { Conversions } from './conversions.ts'
import { presentConversion, presentReport, presentResults } from './present.ts'
import type { ConversionMark, LinkedConversion } from './store/conversion-store.ts'

/** A thousand reports with 1 KiB each. */
const BODY_BYTES_MAX = 1024 * 1024

const tags = ['Conversions']

type Dependencies = WalkContext & {
  readonly conversions: Conversions
  readonly idempotency: Idempotency
}

export const conversionRoutes: FastifyPluginAsyncZod<Dependencies> = async (app, deps) => {
  app.get(
    '/conversions',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'conversions.list',
        summary: 'List or count conversions',
        description:
          'Returns the conversions of a period, a page at a time, the newest first; with `interval` or `group_by` their numbers and values, for each currency. Without a period: the last 30 days.',
        headers: ifNoneMatchHeaders,
        querystring: conversionsQuery,
        response: { 200: conversionsList },
      },
    },
    async (request) => listOrReport(request, request.query, deps),
  )

  app.get(
    '/conversions/export',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'conversions.export',
        summary: 'Export conversions',
        description:
          'Streams the conversions of a period, the newest first, as CSV or as one JSON object a line.',
        querystring: exportConversionsQuery,
        response: {
          200: {
            description: 'One line for each conversion.',
            content: {
              'text/csv': { schema: z.string() },
              'application/x-ndjson': { schema: conversionSchema.describe('Of each line.') },
            },
          },
        },
      },
    },
    async (request, reply) => sendExport(deps, { request, reply }, request.query),
  )
}

async function sendExport(
  { conversions }: Dependencies,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { format = 'csv', ...query }: z.output<typeof exportConversionsQuery>,
): Promise<FastifyReply> {
  const batches = conversions.export(actorOf(request), query)
  const stream = await lineStream(batches, LINES[format], {
    onBatch: () => {},
    onError: (error) => request.log.warn({ err: error }, 'closing a conversion export failed'),
  })
  reply
    .header('Content-Type', TYPES[format])
    .header('Content-Disposition', contentDisposition('attachment', `conversions.${format}`))
  if (request.method === 'HEAD') stream.destroy()
  return reply.send(request.method === 'HEAD' ? undefined : stream)
}

/** Validates what a request has besides its reports, which have results of their own. */
const validateEnvelope: FastifySchemaCompiler<z.ZodType> = (route) =>
  validate(route.schema === conversionsBody ? { ...route, schema: conversionsEnvelope } : route)

export const conversionReportRoute: FastifyPluginAsyncZod<Dependencies> = async (
  app,
  { conversions, idempotency },
) => {
  app.setValidatorCompiler(validateEnvelope)
  app.post(
    '/conversions',
    {
      bodyLimit: BODY_BYTES_MAX,
      schema: {
        tags,
        operationId: 'conversions.record',
        summary: 'Report conversions',
        description:
          'Records what a visitor did, by the token with which the visitor came: one conversion, or up to 1,000 in an array, each with a result of its own. Send it from your server, after the payment and not from the page. A report with an `idempotency_key` that was used before returns the conversion of that time; with other content it fails with `idempotency_conflict`. An `Idempotency-Key` does the same for reports without a key of their own.',
        headers: idempotencyHeaders,
        body: conversionsBody,
        response: {
          200: conversionsAnswer,
          ...REFUSED,
          ...tooLargeFor(BODY_BYTES_MAX),
        },
      },
    },
    async (request, reply) => {
      const body: unknown = request.body
      const actor = actorOf(request)
      const { key } = idempotency.read(request, reply, actor) ?? {}
      if (Array.isArray(body)) return presentResults(await conversions.record(actor, body, key))
      const [result] = await conversions.record(actor, [body], key)
      if (result === undefined) throw new Error('a report has no result')
      if (result.status === 'failed') throw result.failure
      return presentConversion(result.conversion)
    },
  )
}

function listOrReport(
  request: FastifyRequest,
  query: ConversionsQuery,
  { conversions, ...context }: Dependencies,
): Promise<ConversionPageResource | ConversionReportResource> {
  const actor = actorOf(request)
  const { per_page, cursor, interval, group_by, limit, ...filter } = query
  if (interval !== undefined || group_by !== undefined) {
    if (cursor !== undefined) {
      const other = group_by === undefined ? 'interval' : 'group_by'
      throw Failure.invalid({ cursor: [{ code: 'incompatible', reason: 'never', other }] })
    }
    const { signal } = request
    return conversions
      .report(actor, { ...filter, interval, group_by, limit }, { signal })
      .then(presentReport)
  }
  return uncountedPage<LinkedConversion, ConversionMark>(
    request,
    { cursor, per_page },
    {
      context,
      owner: [actor.workspaceId, filter],
      read: (run) => conversions.list(actor, filter, run),
    },
  ).then(({ data, ...page }) => ({ ...page, data: data.map(presentConversion) }))
}

const TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
} as const

const COLUMNS = Object.keys(conversionSchema.shape) as (keyof ConversionResource)[]

const LINES = {
  csv: {
    header: csvLine(COLUMNS),
    lineOf(conversion: LinkedConversion) {
      const fields = presentConversion(conversion)
      return csvLine(COLUMNS.map((column) => fields[column] ?? ''))
    },
  },
  ndjson: {
    header: '',
    lineOf: (conversion: LinkedConversion) => `${JSON.stringify(presentConversion(conversion))}\n`,
  },
} as const
