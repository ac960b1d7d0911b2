import { randomUUID } from 'node:crypto'
import type { Click } from '../../src/clicks/click.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Api, expectStatus, untilServed } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import type { Service } from '../support/service.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'
import type { Caller, IdChoice } from './arbitrary-request.ts'
import { IdLedger } from './id-ledger.ts'

const OWN_LINKS = 40
const OWN_DOMAINS = 40
const HOUR_MICROS = 3_600_000_000

/** The workspace that a run may change, a foreign one that it must not change, and their tokens. */
export type WorkspaceUnderTest = {
  readonly id: string
  readonly links: IdLedger
  readonly domains: IdLedger
  readonly api: Api
  readonly foreign: Api
  resolve(id: IdChoice): string
  authorization(caller: Caller): string | undefined
}

/** Makes a thing, however busy the database is. */
async function made(api: Api, path: string, input: Readonly<Record<string, unknown>>) {
  const once = { 'idempotency-key': randomUUID() }
  return expectStatus(await untilServed(() => api.post(path, input, once)), 201).body
}

export async function openWorkspaceUnderTest(service: Service): Promise<WorkspaceUnderTest> {
  const api = await service.api('own')
  const foreign = await service.api('foreign')
  const links = new IdLedger()
  const domains = new IdLedger()
  const foreignLinks: string[] = []
  const foreignDomains: string[] = []
  const workspace = await service.instance.workspaces.ensure(commandLine, 'own')

  const clicks: Click[] = []
  for (let nth = 0; nth < OWN_LINKS; nth += 1) {
    const body = await made(api, '/links', link(`own${nth}`))
    links.noteCreated(body.id)
    const at = service.instance.clock.nowMicros() - nth * HOUR_MICROS
    const known = { at, link_seq: await seqOf(service, body), flags: nth % 3, visitor: nth }
    clicks.push(someClick(known), someClick({ ...known, country: 'DE', referrer: 'a.example' }))
  }
  await takeIn(service, clicks)
  for (let nth = 0; nth < OWN_DOMAINS; nth += 1) {
    const body = await made(api, '/domains', { domain: `own${nth}.localhost` })
    domains.noteCreated(body.id)
  }
  for (const name of ['one', 'two', 'dup']) {
    foreignLinks.push((await made(foreign, '/links', link(name))).id)
    const domain = { domain: name === 'one' ? 'foreign.localhost' : `${name}.example.com` }
    foreignDomains.push((await made(foreign, '/domains', domain)).id)
  }

  const make = async (options: { scopes?: typeof SCOPES; expiresAt?: number }) =>
    service.instance.tokens.create(commandLine(workspace.id), {
      name: 'fuzz',
      scopes: options.scopes ?? SCOPES,
      expiresAt: options.expiresAt ?? null,
    })
  const revoked = await make({})
  await service.instance.tokens.revokeAnywhere(commandLine, revoked.token.id)
  const secrets = {
    owner: (await make({})).secret,
    reader: await service.token('own', ['workspace:admin']),
    revoked: revoked.secret,
    expired: (await make({ expiresAt: service.instance.clock.nowMicros() - HOUR_MICROS })).secret,
  }

  return {
    id: workspace.id,
    links,
    domains,
    api,
    foreign,
    resolve(id) {
      switch (id.kind) {
        case 'text':
          return id.text
        case 'link':
          return links.pickLive(id.nth)
        case 'domain':
          return domains.pickLive(id.nth)
        case 'deleted':
          return links.pickDeleted(id.nth)
        case 'foreign-link':
          return pick(foreignLinks, id.nth)
        case 'foreign-domain':
          return pick(foreignDomains, id.nth)
      }
    },
    authorization(caller) {
      if (caller.kind === 'anonymous') return undefined
      return caller.kind === 'header' ? caller.text : `Bearer ${secrets[caller.kind]}`
    },
  }
}

function link(key: string): Record<string, string> {
  return { domain: 'localhost', key, url: 'https://example.com/' }
}

function pick(ids: readonly string[], nth: number): string {
  return ids[nth % ids.length] ?? ''
}
