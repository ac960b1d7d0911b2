import { Readable } from 'node:stream'
import {
  createImportBody,
  IMPORT_PART_BYTES_MAX,
  importCancelled,
  importColumns,
  importPage,
  importPartQuery,
  importSchema,
  linkOriginSchema,
  reviveImportsBody,
  startImportBody,
} from '@terse/contract/imports'
import { pageQuery } from '@terse/contract/pagination'
import { idempotencyHeaders, idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type Actor, actorOf } from '../identity/index.ts'
import type { UncountedLink } from '../links/index.ts'
import type { Idempotency } from '../platform/http/api/idempotency.ts'
import { type FastifyInstanceZod, tooLargeFor } from '../platform/http/api/responses.ts'
import { type CursoredList, cursoredList, type WalkContext } from '../platform/http/api/walk.ts'
import { contentDisposition } from '../platform/http/content-disposition.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { Import } from './import.ts'
import type { Imports } from './imports.ts'
import { presentImport, presentOrigin } from './present.ts'
import type { ImportMark } from './store/import-store.ts'

/** Held while a part is read: it is in memory. */
export const UPLOAD_QUEUE: FairQueueOptions = {
  work: 'uploads',
  concurrency: 8,
  concurrencyPerOwner: 1,
  waitingPerOwnerMax: 4,
  waitingMax: 64,
  deadlineMs: 10_000,
}

export type ImportRouteDependencies = WalkContext & {
  readonly imports: Imports
  readonly idempotency: Idempotency
  /** For `UPLOAD_QUEUE`. */
  readonly uploads: FairQueue
  readonly links: { get(actor: Actor, id: string): Promise<UncountedLink> }
}

const tags = ['Imports']

export const importRoutes: FastifyPluginAsyncZod<ImportRouteDependencies> = async (app, deps) => {
  registerReads(app, deps)
  registerRowReads(app, deps)
  registerWrites(app, deps)
  await app.register(uploadRoutes, { ...deps, prefix: '' })
}

function registerReads(app: FastifyInstanceZod, deps: ImportRouteDependencies): void {
  const { imports, links } = deps
  app.get(
    '/imports',
    {
      schema: {
        tags,
        operationId: 'imports.list',
        summary: 'List imports',
        description: 'Returns the imports of the workspace a page at a time, the newest first.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: importPage },
      },
    },
    (request) => {
      const actor = actorOf(request)
      const list = importsOf(actor, deps)
      const owner = actor.workspaceId
      return cursoredList(request, deps, request.query, { owner, present: presentImport, list })
    },
  )
  app.get(
    '/imports/:id',
    {
      schema: {
        tags,
        operationId: 'imports.get',
        summary: 'Show an import',
        description: 'Returns how far an import is, and what became of its rows so far.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: importSchema },
      },
    },
    async (request) => presentImport(await imports.get(actorOf(request), request.params.id)),
  )
  app.get(
    '/links/:id/origin',
    {
      schema: {
        tags,
        operationId: 'links.getOrigin',
        summary: 'Show from where a link was imported',
        description:
          'Returns the import that took a link, and what its source knows of it that links do not have.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: linkOriginSchema },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      const { seq } = await links.get(actor, request.params.id)
      return presentOrigin(await imports.originOf(actor, seq))
    },
  )
}

/** What is in the file of an import, and what became of it. */
function registerRowReads(app: FastifyInstanceZod, { imports }: ImportRouteDependencies): void {
  app.get(
    '/imports/:id/columns',
    {
      schema: {
        tags,
        operationId: 'imports.getColumns',
        summary: 'Read the columns of a file',
        description:
          'Returns the columns of a CSV file, the field that was recognized of each, and up to three of its values while the node of the request has the file. Passwords are hidden.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: importColumns },
      },
    },
    async (request) => {
      const columns = await imports.columns(actorOf(request), request.params.id)
      return { data: columns.map((column) => ({ ...column, samples: [...column.samples] })) }
    },
  )
  app.get(
    '/imports/:id/report',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'imports.getReport',
        summary: 'Read the report of an import',
        description:
          'Streams what became of each row so far, as CSV: its place in the source, the outcome, the link and the reason.',
        params: idParams,
        response: {
          200: {
            description: 'The report.',
            content: {
              'text/csv': { schema: z.string().describe('A header, and a line for each row.') },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const report = await imports.report(actorOf(request), request.params.id)
      reply
        .header('Content-Type', 'text/csv; charset=utf-8')
        .header('Content-Disposition', contentDisposition('attachment', 'import-report.csv'))
      const answer: FastifyReply = reply
      return answer.send(request.method === 'HEAD' ? undefined : Readable.from(report))
    },
  )
}

function registerWrites(
  app: FastifyInstanceZod,
  { imports, idempotency }: ImportRouteDependencies,
): void {
  app.post(
    '/imports',
    {
      schema: {
        tags,
        operationId: 'imports.create',
        summary: 'Prepare an import',
        description:
          'Prepares an import of links from another service. Then send the file, if the source is one, and start it.',
        headers: idempotencyHeaders,
        body: createImportBody,
        response: { 201: importSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = idempotency.read(request, reply, actor)
      const created = await imports.create(actor, request.body, repeatable)
      return reply.code(201).send(presentImport(created))
    },
  )
  app.post(
    '/imports/revive',
    {
      schema: {
        tags,
        operationId: 'imports.revive',
        summary: 'Revive what imports kept',
        description:
          'Queues a job that carries over what earlier imports kept beside their links and links can have now: rules of other services, limits, beginnings and notes. It changes nothing that a link has itself. Its report has each condition that cannot be carried over; after a dry run it is started like an import.',
        headers: idempotencyHeaders,
        body: reviveImportsBody,
        response: { 201: importSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = idempotency.read(request, reply, actor)
      const created = await imports.revive(actor, request.body, repeatable)
      const { url = '' } = request.routeOptions
      reply.header('Location', url.replace(/revive$/, created.id))
      return reply.code(201).send(presentImport(created))
    },
  )
  app.post(
    '/imports/:id/start',
    {
      schema: {
        tags,
        operationId: 'imports.start',
        summary: 'Start an import',
        description:
          'Queues an import, or a dry run of it, after which it can be started again. A failed import goes on where it was.',
        params: idParams,
        body: startImportBody,
        response: { 200: importSchema },
      },
    },
    async (request) => {
      const { params, body } = request
      return presentImport(await imports.start(actorOf(request), params.id, body))
    },
  )
  app.delete(
    '/imports/:id',
    {
      schema: {
        tags,
        operationId: 'imports.cancel',
        summary: 'Cancel an import',
        description:
          'Ends an import and removes its file. The links that it has written stay, and so does its report.',
        params: idParams,
        response: {
          200: importCancelled,
        },
      },
    },
    async (request) => {
      const cancelled = await imports.cancel(actorOf(request), request.params.id)
      return { message: 'Import cancelled' as const, ...presentImport(cancelled) }
    },
  )
}

const uploadRoutes: FastifyPluginAsyncZod<ImportRouteDependencies> = async (app, deps) => {
  const { imports, uploads } = deps
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    // The latter for exports that are JSON: the type that clients give such a file.
    ['application/octet-stream', 'application/json'],
    { parseAs: 'buffer' },
    (_request, body, done) => done(null, body),
  )
  app.put(
    '/imports/:id/file',
    {
      bodyLimit: IMPORT_PART_BYTES_MAX,
      config: { mayTakeLong: true },
      onRequest: async (request, reply) => {
        const release = await uploads.acquire(actorOf(request).workspaceId)
        if (reply.raw.closed) release()
        reply.raw.once('close', release)
      },
      schema: {
        tags,
        operationId: 'imports.uploadFile',
        summary: 'Send a part of the file',
        description: `Sends the file of an import in parts of at most ${IMPORT_PART_BYTES_MAX / 1024 / 1024} MiB, one after the other, each within 20 s. A part whose answer was lost may be sent again. All parts must reach the same node. The file may have 1 GiB.`,
        params: idParams,
        querystring: importPartQuery,
        body: z.unknown().meta({ type: 'string', format: 'binary' }),
        consumes: ['application/octet-stream'],
        response: {
          200: importSchema,
          ...tooLargeFor(IMPORT_PART_BYTES_MAX),
        },
      },
    },
    async (request) => {
      const part = request.body instanceof Uint8Array ? request.body : new Uint8Array()
      const { offset } = request.query
      return presentImport(await imports.receive(actorOf(request), request.params.id, offset, part))
    },
  )
}

/** What the list of imports is read by. */
function importsOf(
  actor: Actor,
  { imports }: ImportRouteDependencies,
): CursoredList<Import, ImportMark> {
  const markOf = ({ created_at, id }: Import) => ({ created_at, id })
  return {
    count: () => imports.count(actor),
    page: (offset, limit) => imports.list(actor, { offset, limit }),
    async read({ limit, ...run }) {
      const found = await imports.list(actor, { ...run, limit: limit + 1 })
      const items = found.slice(0, limit)
      const last = found.length > limit ? items.at(-1) : undefined
      return { items, rest: last && markOf(last) }
    },
    markOf,
  }
}
