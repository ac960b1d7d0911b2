import { pino } from 'pino'
import { openDomains } from '../../src/app/composition/domains.ts'
import { type Instance, openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { commandLine } from '../../src/identity/actor.ts'
import type { DnsServer } from './dns-server.ts'
import type { Place } from './engines.ts'
import type { Pebble } from './pebble.ts'

/** The host of a service that gets certificates from a Pebble. */
export const SERVICE_HOST = 'go.service.test'

/** Settings of a service that gets certificates from a Pebble, with a DNS server of the tests. */
export function httpsSettings(pebble: Pebble, dns: DnsServer): Record<string, string> {
  return {
    TERSE_BASE_URL: `https://${SERVICE_HOST}`,
    TERSE_TLS: 'auto',
    TERSE_PORT: String(pebble.httpPort),
    TERSE_HTTPS_PORT: String(pebble.tlsPort),
    TERSE_DNS_SERVERS: dns.address,
    TERSE_ACME_DIRECTORY: pebble.directory,
    TERSE_ACME_CA_FILE: pebble.caFile,
  }
}

/** A second connection to a running service's data. */
export type Beside = {
  readonly instance: Instance
  /** Adds a domain, as a workspace does. Returns the lines of a zone file that prove it. */
  claim(host: string): Promise<readonly string[]>
  close(): Promise<void>
}

export async function openBeside(place: Place, settings: Record<string, string>): Promise<Beside> {
  const config = readConfig({ ...settings, ...place.env })
  const log = pino({ level: 'silent' })
  const instance = await openInstance(config, log)
  const { domains, checks } = openDomains(config, instance, log)
  const actor = commandLine((await instance.workspaces.ensure(commandLine, 'acme')).id)
  return {
    instance,
    async claim(host) {
      const { id } = await domains.create(actor, { domain: host })
      const { records } = await checks.report(actor, id)
      const proof = records.find(({ purpose }) => purpose === 'ownership')
      return [`${host}. A 127.0.0.1`, `${proof?.full_name}. TXT "${proof?.value}"`]
    },
    close: () => instance.close(),
  }
}
