import { dnsReportSchema } from '@terse/contract/dns-report'
import { domainHttpsBody, domainHttpsSchema } from '@terse/contract/domain-https'
import {
  defaultDomainBody,
  defaultDomainSchema,
  domainBody,
  domainDeleted,
  domainPage,
  domainSchema,
  getDomainQuery,
  includingDomainSchema,
  listDomainsQuery,
  patchDomainBody,
} from '@terse/contract/domains'
import {
  idempotencyHeaders,
  idParams,
  ifMatchHeaders,
  ifNoneMatchHeaders,
} from '@terse/contract/primitives'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import type { Idempotency } from '../platform/http/api/idempotency.ts'
import { CHECKED_LATELY, type FastifyInstanceZod } from '../platform/http/api/responses.ts'
import { validateWith } from '../platform/http/api/validation.ts'
import { type Domain, type DomainInput, defaultVersion, domainVersion } from './domain.ts'
import type { DomainChecks } from './domain-checks.ts'
import { type DomainHttps, httpsVersion } from './domain-https.ts'
import { type DomainListDependencies, listDomains } from './list-domains.ts'
import {
  presentDefaultDomain,
  presentDnsReport,
  presentDomain,
  presentDomainHttps,
} from './present.ts'

const tags = ['Domains']

const update = {
  schema: {
    tags,
    params: idParams,
    headers: ifMatchHeaders,
    response: { 200: domainSchema },
  },
} as const

type DomainRouteDependencies = DomainListDependencies & {
  readonly domainChecks: DomainChecks
  readonly idempotency: Idempotency
}

export const domainRoutes: FastifyPluginAsyncZod<DomainRouteDependencies> = async (app, deps) => {
  app.setValidatorCompiler(validateWith((input) => deps.domains.faultsOf(input)))
  registerReads(app, deps)
  registerWrites(app, deps)
  registerDefault(app, deps)
  registerDnsChecks(app, deps)
}

function registerReads(app: FastifyInstanceZod, deps: DomainRouteDependencies): void {
  app.get(
    '/domains',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'domains.list',
        summary: 'List domains',
        description:
          'Returns one page of the domains of the workspace; the newest first. `include` adds what a page about them shows, without asking DNS.',
        headers: ifNoneMatchHeaders,
        querystring: listDomainsQuery,
        response: { 200: domainPage },
      },
    },
    (request) => listDomains(request, request.query, deps),
  )

  app.get(
    '/domains/:id',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'domains.get',
        summary: 'Show domain',
        description: 'Returns one domain.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        querystring: getDomainQuery,
        response: {
          200: includingDomainSchema,
        },
      },
    },
    async (request, reply) => {
      const { params, query, signal } = request
      const actor = actorOf(request)
      const domain = await deps.domains.get(actor, params.id)
      const { include = [] } = query
      const [shown = presentDomain(domain)] = await deps.includedOfDomains.present(
        actor,
        [domain],
        { include, signal },
      )
      return tagged(reply, shown, domainVersion(domain))
    },
  )
}

function registerWrites(app: FastifyInstanceZod, deps: DomainRouteDependencies): void {
  app.post(
    '/domains',
    {
      schema: {
        tags,
        operationId: 'domains.create',
        summary: 'Create domain',
        description: 'Adds a domain, with the status `pending` until its DNS records are found.',
        headers: idempotencyHeaders,
        body: domainBody,
        response: { 201: domainSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = deps.idempotency.read(request, reply, actor)
      const domain = await deps.domains.create(actor, request.body, repeatable)
      return reply.code(201).send(presentDomain(domain))
    },
  )

  app.put(
    '/domains/:id',
    {
      ...update,
      schema: {
        ...update.schema,
        operationId: 'domains.update',
        summary: 'Update domain',
        description:
          'Changes a domain. `domain` is required. Other fields keep their value when left out, and null clears them. A new host name makes the domain `pending` again.',
        body: domainBody,
      },
    },
    async (request) => presentDomain(await updateBy(deps.domains, request)),
  )

  app.patch(
    '/domains/:id',
    {
      ...update,
      schema: {
        ...update.schema,
        operationId: 'domains.patch',
        summary: 'Change some fields of a domain',
        description:
          'Changes the fields that are sent. Null clears a field. A new host name makes the domain `pending` again.',
        body: patchDomainBody,
      },
    },
    async (request, reply) => {
      const domain = await updateBy(deps.domains, request)
      return tagged(reply, presentDomain(domain), domainVersion(domain))
    },
  )

  app.delete(
    '/domains/:id',
    {
      schema: {
        tags,
        operationId: 'domains.delete',
        summary: 'Delete domain',
        description:
          'Deletes a domain. Its links are kept, and work again when the domain is added and proved again.',
        params: idParams,
        headers: ifMatchHeaders,
        response: { 200: domainDeleted },
      },
    },
    async (request) => {
      await deps.domains.delete(actorOf(request), request.params.id, expectedVersions(request))
      return { message: 'Domain deleted' as const }
    },
  )
}

function registerDefault(app: FastifyInstanceZod, deps: DomainRouteDependencies): void {
  app.get(
    '/default-domain',
    {
      schema: {
        tags,
        operationId: 'domains.getDefault',
        summary: 'Show the default domain',
        description:
          'Returns the domain on which the dashboard starts new links of the workspace. `POST /links` requires `domain` all the same.',
        headers: ifNoneMatchHeaders,
        response: { 200: defaultDomainSchema },
      },
    },
    async (request, reply) => {
      const domain = await deps.domains.findDefault(actorOf(request))
      return tagged(reply, presentDefaultDomain(domain), defaultVersion(domain))
    },
  )

  app.put(
    '/default-domain',
    {
      schema: {
        tags,
        operationId: 'domains.updateDefault',
        summary: 'Change the default domain',
        description:
          'Lets new links start on another domain of the workspace, which may still be pending, or with null on none. The deletion of the domain ends it too.',
        headers: ifMatchHeaders,
        body: defaultDomainBody,
        response: { 200: defaultDomainSchema },
      },
    },
    async (request) => {
      const { domain } = request.body
      return presentDefaultDomain(
        await deps.domains.setDefault(actorOf(request), domain, expectedVersions(request)),
      )
    },
  )
}

function registerDnsChecks(app: FastifyInstanceZod, deps: DomainRouteDependencies): void {
  app.get(
    '/domains/:id/dns',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'domains.getDns',
        summary: 'Show the required DNS records and those found',
        description:
          'Looks the domain up in DNS and compares the records found with the required ones. Does not change the status.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: dnsReportSchema },
      },
    },
    async (request) =>
      presentDnsReport(await deps.domainChecks.report(actorOf(request), request.params.id)),
  )

  app.post(
    '/domains/:id/verify',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'domains.verify',
        summary: 'Check the DNS of a domain now, once a minute at most',
        description: 'Looks the domain up in DNS and changes its status accordingly.',
        params: idParams,
        response: {
          200: dnsReportSchema,
          ...CHECKED_LATELY,
        },
      },
    },
    async (request) =>
      presentDnsReport(await deps.domainChecks.verify(actorOf(request), request.params.id)),
  )
}

function updateBy(
  domains: DomainRouteDependencies['domains'],
  request: FastifyRequest<{ Params: { id: string }; Body: DomainInput }>,
): Promise<Domain> {
  const { params, body } = request
  return domains.update(actorOf(request), params.id, body, expectedVersions(request))
}

/** A resource of its own: the specification fixes the fields of a domain. */
type HttpsRouteDependencies = { readonly domainHttps: DomainHttps }

export const domainHttpsRoutes: FastifyPluginAsyncZod<HttpsRouteDependencies> = async (
  app,
  deps,
) => {
  app.get(
    '/domains/:id/https',
    {
      schema: {
        tags: ['Domains'],
        operationId: 'domains.getHttps',
        summary: 'Show the HTTPS settings of a domain',
        description: 'Returns the certificate of the domain, and the `max-age` of its HSTS header.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: domainHttpsSchema },
      },
    },
    async (request, reply) => {
      const state = await deps.domainHttps.get(actorOf(request), request.params.id)
      return tagged(reply, presentDomainHttps(state), httpsVersion(state))
    },
  )

  app.put(
    '/domains/:id/https',
    {
      schema: {
        tags: ['Domains'],
        operationId: 'domains.updateHttps',
        summary: 'Change the HTTPS settings of a domain',
        description:
          'Sets the `max-age` of the HSTS header: for how long browsers use only HTTPS for the domain.',
        params: idParams,
        headers: ifMatchHeaders,
        body: domainHttpsBody,
        response: { 200: domainHttpsSchema },
      },
    },
    async (request) =>
      presentDomainHttps(
        await deps.domainHttps.setHsts(
          actorOf(request),
          request.params.id,
          request.body.hsts_max_age,
          expectedVersions(request),
        ),
      ),
  )
}
