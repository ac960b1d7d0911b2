import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { dnsReportSchema } from '../../contract/dns-report.ts'
import {
  domainBody,
  domainDeleted,
  domainPage,
  domainSchema,
  listDomainsQuery,
  patchDomainBody,
} from '../../contract/domains.ts'
import { idempotencyHeaders, idParams } from '../../contract/primitives.ts'
import type { AppDependencies } from '../app-dependencies.ts'
import { workspaceOf } from '../authentication.ts'
import { listDomains } from '../list-domains.ts'
import { presentDnsReport, presentDomain } from '../present.ts'
import { validateWith } from '../validation.ts'
import {
  CHECKED_LATELY,
  CONFLICT,
  FAILURES,
  INVALID,
  INVALID_BODY,
  INVALID_QUERY,
  NOT_FOUND,
} from './responses.ts'

const tags = ['Domains']

export const domainRoutes: FastifyPluginAsyncZod<AppDependencies> = async (app, deps) => {
  app.setValidatorCompiler(validateWith((input) => deps.domains.faultsOf(input)))

  app.get(
    '/domains',
    {
      config: { scope: 'domains:read' },
      schema: {
        tags,
        summary: 'List domains',
        querystring: listDomainsQuery,
        response: { 200: domainPage, ...INVALID_QUERY, ...FAILURES },
      },
    },
    (request) => listDomains(request, request.query, deps),
  )

  app.post(
    '/domains',
    {
      config: { scope: 'domains:write' },
      schema: {
        tags,
        summary: 'Create domain',
        headers: idempotencyHeaders,
        body: domainBody,
        response: { 201: domainSchema, ...CONFLICT, ...INVALID, ...FAILURES },
      },
    },
    async (request, reply) => {
      const repeatable = deps.idempotency(request)
      const domain = await deps.domains.create(workspaceOf(request), request.body, repeatable)
      return reply.code(201).send(presentDomain(domain))
    },
  )

  app.get(
    '/domains/:id',
    {
      config: { scope: 'domains:read' },
      schema: {
        tags,
        summary: 'Show domain',
        params: idParams,
        response: { 200: domainSchema, ...NOT_FOUND, ...FAILURES },
      },
    },
    async (request) =>
      presentDomain(await deps.domains.get(workspaceOf(request), request.params.id)),
  )

  app.get(
    '/domains/:id/dns',
    {
      config: { scope: 'domains:read', mayTakeLong: true },
      schema: {
        tags,
        summary: 'Show the DNS records to set, and what DNS says now',
        params: idParams,
        response: { 200: dnsReportSchema, ...NOT_FOUND, ...FAILURES },
      },
    },
    async (request) =>
      presentDnsReport(await deps.domainChecks.report(workspaceOf(request), request.params.id)),
  )

  app.post(
    '/domains/:id/verify',
    {
      config: { scope: 'domains:write', mayTakeLong: true },
      schema: {
        tags,
        summary: 'Check the DNS of a domain now, once a minute at most',
        params: idParams,
        response: {
          200: dnsReportSchema,
          ...NOT_FOUND,
          ...INVALID_BODY,
          ...FAILURES,
          ...CHECKED_LATELY,
        },
      },
    },
    async (request) =>
      presentDnsReport(await deps.domainChecks.verify(workspaceOf(request), request.params.id)),
  )

  const update = {
    config: { scope: 'domains:write' },
    schema: {
      tags,
      params: idParams,
      response: { 200: domainSchema, ...NOT_FOUND, ...INVALID, ...FAILURES },
    },
  } as const

  app.put(
    '/domains/:id',
    { ...update, schema: { ...update.schema, summary: 'Update domain', body: domainBody } },
    async (request) =>
      presentDomain(
        await deps.domains.update(workspaceOf(request), request.params.id, request.body),
      ),
  )

  app.patch(
    '/domains/:id',
    {
      ...update,
      schema: {
        ...update.schema,
        summary: 'Change some fields of a domain',
        body: patchDomainBody,
      },
    },
    async (request) =>
      presentDomain(
        await deps.domains.update(workspaceOf(request), request.params.id, request.body),
      ),
  )

  app.delete(
    '/domains/:id',
    {
      config: { scope: 'domains:write' },
      schema: {
        tags,
        summary: 'Delete domain',
        params: idParams,
        response: { 200: domainDeleted, ...NOT_FOUND, ...INVALID_BODY, ...FAILURES },
      },
    },
    async (request) => {
      await deps.domains.delete(workspaceOf(request), request.params.id)
      return { message: 'Domain deleted' as const }
    },
  )
}
