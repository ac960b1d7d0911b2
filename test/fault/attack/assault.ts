import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { openInstance } from '../../../src/app/composition/instance.ts'
import { readConfig } from '../../../src/app/config/config.ts'
import { commandLine } from '../../../src/identity/actor.ts'
import { type Api, apiClient, expectStatus, untilServed } from '../../support/api.ts'
import { startDnsResponder } from '../../support/dns-responder.ts'
import type { Place } from '../../support/engines.ts'
import { freePort } from '../../support/free-port.ts'
import { keepCertificate } from '../../support/https.ts'
import { INHERITED_ENV } from '../../support/inherited-env.ts'
import { type ServiceProcess, startProcess } from '../../support/service-process.ts'
import { createTestAuthority } from '../../support/test-authority.ts'
import type { AttackOrder } from './attackers.ts'
import type { AttackTally, Target } from './target.ts'

const ATTACKERS = fileURLToPath(new URL('./attackers.ts', import.meta.url))
const SERVICE_HOST = 'go.acme.test'
/** Names below `localhost` become active without DNS. */
const BYSTANDER_HOST = 'bystander.localhost'
const TENANTS = 10
/** The attackers run at a lower priority than the bystander, whose clock must not wait for them. */
const ATTACKERS_NICENESS = 10

/** A service with a bystander's link, hostile tenants, and DNS that never answers. */
export type Scene = {
  readonly service: ServiceProcess
  readonly target: Target
  /** An API client of the bystander's workspace. */
  readonly api: Api
  readonly bystander: { readonly id: string; readonly key: string }
  readonly flooded: { readonly id: string }
  stop(): Promise<void>
}

/**
 * Starts the service and everything that the attack needs.
 * @param options.settings of the service, overriding those of the scene
 * @param options.within as for `startProcess`
 */
export async function startScene(
  place: Place,
  options: { settings?: Readonly<Record<string, string>>; within?: readonly string[] } = {},
): Promise<Scene> {
  const dns = await startDnsResponder(() => 'silence')
  const httpsPort = await freePort()
  const settings = {
    TERSE_BASE_URL: `https://${SERVICE_HOST}`,
    TERSE_TLS: 'auto',
    TERSE_HTTPS_PORT: String(httpsPort),
    TERSE_DNS_SERVERS: dns.address,
    // The production default; other tests run without it.
    TERSE_RATE_LIMIT: '600',
    TERSE_CLICK_CAP_PER_MINUTE: '300',
    TERSE_RAW_CLICKS_PER_MINUTE: '60000',
    TERSE_LOG_LEVEL: 'warn',
    ...options.settings,
  }
  const { tokens, token } = await prepare(place, settings)
  const service = await startProcess(place, settings, { within: options.within ?? [] })
  const baseUrl = `http://127.0.0.1:${service.port}`
  const api = apiClient(baseUrl, token)
  const create = async (owner: Api, body: object) =>
    expectStatus(
      await untilServed(() => owner.post('/links', { url: 'https://example.com/', ...body })),
      201,
    ).body
  const own = (key: string, more = {}) => create(api, { domain: BYSTANDER_HOST, key, ...more })
  const bystander = await own('calm')
  const flooded = await own('flooded')
  await own('protected', { password: 'correct horse battery staple' })
  const links = await Promise.all(
    tokens.map((of) => create(apiClient(baseUrl, of), { domain: SERVICE_HOST })),
  )
  return {
    service,
    api,
    bystander,
    flooded,
    target: {
      port: service.port,
      httpsPort,
      serviceHost: SERVICE_HOST,
      host: BYSTANDER_HOST,
      floodedKey: 'flooded',
      protectedKey: 'protected',
      tokens,
      linkIds: links.map(({ id }) => id),
    },
    async stop() {
      await service.stop()
      await dns.stop()
    },
  }
}

/**
 * Creates workspaces, tokens and the certificate of the service's host before the service starts.
 */
async function prepare(
  place: Place,
  settings: Readonly<Record<string, string>>,
): Promise<{ tokens: string[]; token: string }> {
  const config = readConfig({ ...place.env, ...settings })
  const instance = await openInstance(config, pino({ level: 'silent' }))
  const authority = createTestAuthority()
  await keepCertificate(instance, SERVICE_HOST, authority.issue(SERVICE_HOST))
  const tokenOf = async (name: string) => {
    const workspace = await instance.workspaces.ensure(commandLine, name)
    const scopes = [
      'links:read',
      'links:write',
      'domains:read',
      'domains:write',
      'clicks:read',
    ] as const
    return (
      await instance.tokens.create(commandLine(workspace.id), { name, scopes, expiresAt: null })
    ).secret
  }
  const tokens: string[] = []
  for (let nth = 0; nth < TENANTS; nth += 1) tokens.push(await tokenOf(`tenant-${nth}`))
  const token = await tokenOf('bystander')
  await instance.close()
  return { tokens, token }
}

/** Starts the attackers' process; `stop` ends it and returns what it did. */
export function startAttackers(order: AttackOrder): { stop(): Promise<AttackTally> } {
  const child = fork(ATTACKERS, { env: INHERITED_ENV })
  if (child.pid !== undefined) setPriority(child.pid, ATTACKERS_NICENESS)
  child.send(order)
  return {
    async stop() {
      const received = once(child, 'message')
      child.send('stop')
      const [tally] = await received
      return tally
    },
  }
}
