import { type ExportQuery, exportLine, exportQuery } from '@terse/contract/export'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../identity/index.ts'
import { contentDisposition } from '../platform/http/content-disposition.ts'
import { STANDSTILL_TIMEOUT_MS } from '../platform/http/node-http.ts'
import type { WorkspaceExports } from './workspace-exports.ts'

export type ExportRouteDependencies = { readonly workspaceExports: WorkspaceExports }

const TYPES = { ndjson: 'application/x-ndjson', 'csv-zip': 'application/zip' } as const
const EXTENSIONS = { ndjson: 'ndjson', 'csv-zip': 'zip' } as const

const DESCRIPTION =
  'Streams links, domains, UTM templates and members, and single clicks if requested: as one JSON object a line, or as a zip of CSV files. Passwords are not exported. Records come in a fixed order, links and domains in that of their creation. The first line describes the export, `cursor` lines are positions from which a broken export continues, and a complete export ends with an `end` line. People need a recent authentication.'

export const exportRoutes: FastifyPluginAsyncZod<ExportRouteDependencies> = async (
  app,
  { workspaceExports },
) => {
  app.get(
    '/export',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Workspace'],
        operationId: 'workspace.export',
        summary: 'Export the workspace',
        description: DESCRIPTION,
        querystring: exportQuery,
        response: {
          200: {
            description: 'The records.',
            content: {
              'application/x-ndjson': { schema: exportLine.describe('Of each line.') },
              'application/zip': { schema: z.string().describe('A zip of CSV files.') },
            },
          },
        },
      },
    },
    async (request, reply) => sendExport(workspaceExports, { request, reply }, request.query),
  )
}

async function sendExport(
  exports: WorkspaceExports,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { format = 'ndjson', clicks = false, cursor }: ExportQuery,
): Promise<FastifyReply> {
  const name = `terse-export.${EXTENSIONS[format]}`
  reply
    .header('Content-Type', TYPES[format])
    .header('Content-Disposition', contentDisposition('attachment', name))
  // An export that is not read would be an event of something that never happened.
  if (request.method === 'HEAD') return reply.send()
  const { raw } = request
  // Many clicks of others may lie between two of this workspace: restart the idle timeout.
  const onBatch = () => raw.setTimeout(raw.socket.timeout ?? STANDSTILL_TIMEOUT_MS)
  return reply.send(await exports.open(actorOf(request), { format, clicks, cursor }, onBatch))
}
