import { pino } from 'pino'
import { openInstance } from '../src/app/composition/instance.ts'
import { readConfig } from '../src/app/config/config.ts'
import { type Place, SQLITE } from '../test/support/engines.ts'
import { freePort } from '../test/support/free-port.ts'
import { handshake, keepCertificate } from '../test/support/https.ts'
import { NO_ACME } from '../test/support/no-acme.ts'
import { createTestAuthority } from '../test/support/test-authority.ts'
import { visit } from '../test/support/visit.ts'
import { usageOf } from './support/process-usage.ts'
import { report } from './support/report.ts'
import { startTerse } from './support/server-process.ts'
import { median, quantile, round } from './support/statistics.ts'

/**
 * Measures what ten thousand domains with certificates cost: memory compared with a service with
 * one domain after as many handshakes, and the time of a handshake for a host that is not cached
 * compared with a cached one. Client and server share the machine, and the client's own work is in
 * every time.
 */
const DOMAINS = Number(process.env.BENCH_DOMAINS ?? 10_000)
const MEMORY_MIB_MAX = 200
const COLD_MS_MAX = 20
const ALLOW_MS_MAX = 1
const QUESTIONS = 500
const OWN = 'go.acme.test'

// As long as those of public authorities, which have names and extensions that ours lacks.
const authority = createTestAuthority('A'.repeat(600))

const hostOf = (nth: number) => `links-${nth}.acme.test`

async function fill(place: Place, domains: number): Promise<void> {
  const env = { ...place.env, TERSE_BASE_URL: `https://${OWN}`, TERSE_DOMAIN_PROOF: 'none' }
  const instance = await openInstance(readConfig(env), pino({ level: 'silent' }))
  for (let start = 0; start < domains; start += 100) {
    const hosts = Array.from({ length: Math.min(100, domains - start) }, (_, at) =>
      hostOf(start + at),
    )
    await Promise.all(hosts.map((host) => keepCertificate(instance, host, authority.issue(host))))
  }
  await instance.close()
}

/** Times in milliseconds, measured one after the other. */
async function timeHandshakes(port: number, hosts: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (const host of hosts) {
    const startedMs = performance.now()
    const socket = await handshake(port, host, { ca: authority.certificatePem })
    times.push(performance.now() - startedMs)
    socket.destroy()
  }
  return times
}

async function timeQuestions(port: number, domains: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (const domain of domains) {
    const startedMs = performance.now()
    await visit(port, `/internal/tls/allow?domain=${domain}`, { host: '127.0.0.1' })
    times.push(performance.now() - startedMs)
  }
  return times
}

async function measure(domains: number) {
  const place = await SQLITE.createPlace()
  await fill(place, domains)
  const port = await freePort()
  const server = await startTerse({
    ...place.env,
    TERSE_TLS: 'auto',
    TERSE_HTTPS_PORT: String(port),
    TERSE_BASE_URL: `https://${OWN}`,
    TERSE_DOMAIN_PROOF: 'none',
    TERSE_ACME_DIRECTORY: NO_ACME,
  })
  await timeHandshakes(
    port,
    Array.from({ length: 200 }, () => hostOf(0)),
  )
  const hosts = Array.from({ length: DOMAINS }, (_, nth) => hostOf(nth % domains))
  const before = usageOf(server.pid)
  const first = await timeHandshakes(port, hosts)
  const after = usageOf(server.pid)
  const strangers = Array.from({ length: QUESTIONS }, (_, nth) => `stranger-${nth}.test`)
  const unknown = await timeQuestions(server.port, strangers)
  const known = await timeQuestions(server.port, strangers)
  await server.stop()
  await place.remove()
  return {
    domains,
    'handshake ms, median': round(median(first), 2),
    p99: round(quantile(first, 0.99), 2),
    longest: round(Math.max(...first), 2),
    'server CPU µs a handshake': round((after.cpuMicros - before.cpuMicros) / DOMAINS, 0),
    'RSS MiB': round(after.residentMib, 0),
    'RSS MiB, most': round(after.residentPeakMib, 0),
    'allow ms, first': round(median(unknown), 2),
    'allow ms, again': round(median(known), 2),
  }
}

const one = await measure(1)
const many = await measure(DOMAINS)
const more = many['RSS MiB'] - one['RSS MiB']
// The other times depend on what else the machine does.
const cold = many['handshake ms, median']
const missed = [
  ...(more > MEMORY_MIB_MAX ? [`${more} MiB more than with one domain`] : []),
  ...(cold > COLD_MS_MAX ? [`${cold} ms for a handshake for a cold name`] : []),
  ...(many['allow ms, first'] > ALLOW_MS_MAX
    ? ['a request to the internal endpoint takes too long']
    : []),
]
report('https', [one, many], missed)
