import { Readable } from 'node:stream'
import { csvLine } from '@terse/contract/csv'
import {
  EXPORTED_LINK_FIELDS,
  type ExportedLinkRow,
  type ExportLinksQuery,
  exportedLinkRow,
  exportLinksQuery,
} from '@terse/contract/link-export'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type Actor, actorOf } from '../identity/index.ts'
import { contentDisposition } from '../platform/http/content-disposition.ts'
import { STANDSTILL_TIMEOUT_MS } from '../platform/http/node-http.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import { type Link, presentLink } from './link.ts'
import type { Links } from './links.ts'
import { filterOf } from './list-links.ts'

/** The limits for exports of links: one runs for as long as its client reads. */
export const LINK_EXPORT_QUEUE: FairQueueOptions = {
  work: 'link exports',
  concurrency: 64,
  concurrencyPerOwner: 4,
  waitingPerOwnerMax: 4,
  waitingMax: 256,
  deadlineMs: 5_000,
}

/** Read on the main thread of a SQLite instance: a few milliseconds. */
const LINKS_PER_BATCH = 200

export type LinkExportDependencies = {
  readonly links: Pick<Links, 'run'>
  /** With `LINK_EXPORT_QUEUE`. */
  readonly linkExports: FairQueue
}

/**
 * Writes the links that match, the newest first, as CSV or as one JSON object a line. It is no snapshot: a link
 * that changes while the export is read is in the state of that moment, and one that is created is left out.
 *
 * @param onBatch called for each batch, including those that add no line
 * @throws what `Links.run` throws, before the first text
 */
export async function* exportLinks(
  actor: Actor,
  query: ExportLinksQuery,
  { links, linkExports }: LinkExportDependencies,
  onBatch: () => void,
): AsyncGenerator<string, void, void> {
  const { format = 'csv', fields = EXPORTED_LINK_FIELDS } = query
  const filter = filterOf(query)
  const write = format === 'csv' ? csvLineOf : ndjsonLineOf
  const release = await linkExports.acquire(actor.workspaceId)
  try {
    let head = format === 'csv' ? csvLine(fields) : ''
    let beyond: number | undefined
    do {
      const run = { ...filter, beyond, limit: LINKS_PER_BATCH, descending: true }
      const { items, rest } = await links.run(actor, run)
      onBatch()
      const text = head + items.map((link) => write(rowOf(link), fields)).join('')
      head = ''
      if (text !== '') yield text
      beyond = rest
      await yieldToEventLoop()
    } while (beyond !== undefined)
  } finally {
    release()
  }
}

function rowOf(link: Link): ExportedLinkRow {
  const { workspace_id: _, password, ...fields } = presentLink(link)
  return { ...fields, protected: password !== null }
}

type Fields = readonly (keyof ExportedLinkRow)[]

function csvLineOf(row: ExportedLinkRow, fields: Fields): string {
  // Tags may contain any separator.
  return csvLine(
    fields.map((field) => {
      const value = row[field]
      return typeof value === 'object' && value !== null
        ? JSON.stringify(value)
        : String(value ?? '')
    }),
  )
}

function ndjsonLineOf(row: ExportedLinkRow, fields: Fields): string {
  return `${JSON.stringify(Object.fromEntries(fields.map((field) => [field, row[field]])))}\n`
}

const TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
} as const

export const linkExportRoutes: FastifyPluginAsyncZod<LinkExportDependencies> = async (
  app,
  deps,
) => {
  app.get(
    '/links/export',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Links'],
        operationId: 'links.export',
        summary: 'Export links',
        description:
          'Streams the links that match, the newest first, as CSV or as one JSON object a line. Passwords are left out.',
        querystring: exportLinksQuery,
        response: {
          200: {
            description: 'One line for each link.',
            content: {
              'text/csv': { schema: z.string() },
              'application/x-ndjson': {
                schema: exportedLinkRow.partial().describe('Of each line.'),
              },
            },
          },
        },
      },
    },
    async (request, reply) => sendExport(deps, { request, reply }, request.query),
  )
}

async function sendExport(
  deps: LinkExportDependencies,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  query: ExportLinksQuery,
): Promise<FastifyReply> {
  const { format = 'csv' } = query
  const { raw } = request
  // A selective filter may send nothing for long; restart the idle timeout at each batch.
  const onBatch = () => raw.setTimeout(raw.socket.timeout ?? STANDSTILL_TIMEOUT_MS)
  const text = exportLinks(actorOf(request), query, deps, onBatch)
  // Read before the stream begins, so that a refusal can still be sent as an error response.
  const first = await text.next()
  const stream = streamOf(first, text)
  reply
    .header('Content-Type', TYPES[format])
    .header('Content-Disposition', contentDisposition('attachment', `links.${format}`))
  if (request.method === 'HEAD') stream.destroy()
  return reply.send(request.method === 'HEAD' ? undefined : stream)
}

/** Closes its source when its reader leaves, also before it has read anything. */
function streamOf(
  first: IteratorResult<string, void>,
  text: AsyncGenerator<string, void, void>,
): Readable {
  async function* all() {
    if (first.done) return
    yield first.value
    yield* text
  }
  const stream = Readable.from(all(), { objectMode: false })
  stream.once('close', () => void text.return(undefined))
  return stream
}
