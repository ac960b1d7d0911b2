import { Agent } from 'node:http'
import { exchange } from './exchange.ts'
import { pause } from './pause.ts'
import { type AttackTally, countAction, countStatus, type Target } from './target.ts'

type Call = { readonly method: string; readonly path: string; readonly body?: unknown }

/** A hostile tenant: the call that it repeats, several at a time. */
type Tenant = { readonly name: string; readonly call: (nth: number) => Call }

/** Concurrent calls of one tenant. */
const CALLS_AT_ONCE = 16
/** A token may make 600 calls a minute by default: a rejected call waits before the next. */
const REFUSED_PAUSE_MS = 500
const FAILED_PAUSE_MS = 200

const BASE_KEY = 'abcdefghijklmnop'

/** Returns the nth spelling of one key by letter case. */
function spelling(nth: number): string {
  return [...BASE_KEY].map((c, at) => ((nth >> at) & 1 ? c.toUpperCase() : c)).join('')
}

const destination = 'https://example.com/landing'

function tenantsOf(domain: string): readonly Tenant[] {
  const create = (body: object): Call => ({
    method: 'POST',
    path: '/links',
    body: { domain, ...body },
  })
  const get = (path: string): Call => ({ method: 'GET', path })
  return [
    { name: 'hashes', call: (nth) => create({ url: destination, password: `secret-${nth}` }) },
    { name: 'searches', call: (nth) => get(`/links?search=nothing-${nth}`) },
    {
      name: 'charts',
      call: (nth) => get(`/clicks?group_by=referrer&country=DE&limit=${1 + (nth % 50)}`),
    },
    { name: 'exports', call: () => get('/clicks/export?format=csv') },
    {
      name: 'pictures',
      call: (nth) =>
        get(`/links/LINK/qr-code?color=%23000${(nth % 4096).toString(16).padStart(3, '0')}`),
    },
    { name: 'spellings', call: (nth) => create({ url: destination, key: spelling(nth) }) },
    {
      name: 'deadClaims',
      call: (nth) => ({
        method: 'POST',
        path: '/domains',
        body: { domain: `claim-${nth}.dead.example` },
      }),
    },
    {
      name: 'creates',
      call: (nth) => create({ url: `${destination}?${nth}`, tags: [`tag-${nth}`] }),
    },
    {
      name: 'deepPages',
      call: (nth) => get(`/links?per_page=100&page=${1 + (nth % 50)}&sort=clicks`),
    },
    {
      name: 'largeLinks',
      call: (nth) => create({ url: `${destination}/${'x'.repeat(8_000)}/${nth}` }),
    },
  ]
}

/** Runs every hostile tenant until the signal; each has its own source address. */
export async function runTenants(
  target: Target,
  tally: AttackTally,
  signal: AbortSignal,
): Promise<void> {
  const tenants = tenantsOf(target.serviceHost)
  await Promise.all(
    tenants.map((tenant, at) => runTenant(target, tally, signal, { ...tenant, at })),
  )
}

async function runTenant(
  target: Target,
  tally: AttackTally,
  signal: AbortSignal,
  { name, call, at }: Tenant & { readonly at: number },
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLS_AT_ONCE })
  const linkId = target.linkIds[at] ?? ''
  let nth = 0
  async function callRepeatedly(): Promise<void> {
    while (!signal.aborted) {
      nth += 1
      const { method, path, body } = call(nth)
      const status = await exchange({
        port: target.port,
        host: '127.0.0.1',
        from: `127.2.0.${1 + at}`,
        path: `/api/v1${path.replace('LINK', linkId)}`,
        method,
        headers: {
          authorization: `Bearer ${target.tokens[at]}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        agent,
      })
      countAction(tally, name)
      countStatus(tally, name, status)
      if (typeof status === 'string') await pause(FAILED_PAUSE_MS, signal)
      else if (status >= 429) await pause(REFUSED_PAUSE_MS, signal)
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, callRepeatedly))
  agent.destroy()
}
