import { Readable } from 'node:stream'
import {
  type ExportLinksQuery,
  exportedLinkRow,
  exportLinksQuery,
} from '@terse/contract/link-export'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../identity/index.ts'
import { FAILURES, INVALID_QUERY } from '../platform/http/api/responses.ts'
import { contentDisposition } from '../platform/http/content-disposition.ts'
import { STANDSTILL_TIMEOUT_MS } from '../platform/http/node-http.ts'
import { exportLinks, type LinkExportDependencies } from './link-export.ts'

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
          ...INVALID_QUERY,
          ...FAILURES,
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
