import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { getProgram } from './programs.ts'

/** A real DNS server on loopback, authoritative for everything under `test`. */
export type DnsServer = {
  /** As `TERSE_DNS_SERVERS` takes it. */
  readonly address: string
  /** Replaces the zone with these lines of a zone file, with names under `test.`. */
  serve(lines: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/** Starts Knot DNS. */
export async function startDnsServer(lines: readonly string[] = []): Promise<DnsServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-knot-'))
  const port = await freePort()
  const zone = path.join(folder, 'test.zone')
  const settings = path.join(folder, 'knot.conf')
  writeFileSync(settings, configuration(folder, zone, port))
  let serial = 1
  writeFileSync(zone, zoneFile(serial, lines))

  let log = ''
  const child: ChildProcess = spawn(getProgram('knotd'), ['-c', settings], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const exited = once(child, 'exit')
  const address = `127.0.0.1:${port}`
  const resolver = new Resolver({ timeout: 200, tries: 1 })
  resolver.setServers([address])
  const isServed = () =>
    eventually(async () => {
      const soa = await resolver.resolveSoa('test')
      assert.equal(soa.serial, serial, log)
    })

  try {
    await isServed()
  } catch (error) {
    child.kill()
    throw new Error(`Knot DNS did not start:\n${log}`, { cause: error })
  }
  return {
    address,
    async serve(next) {
      serial += 1
      writeFileSync(zone, zoneFile(serial, next))
      child.kill('SIGHUP')
      await isServed()
    },
    async stop() {
      child.kill()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function configuration(folder: string, zone: string, port: number): string {
  return `server:
    listen: 127.0.0.1@${port}
    rundir: "${folder}"
database:
    storage: "${folder}"
log:
  - target: stderr
    any: info
zone:
  - domain: test.
    file: "${zone}"
    zonefile-sync: -1
    zonefile-load: whole
    journal-content: none
`
}

function zoneFile(serial: number, lines: readonly string[]): string {
  return [
    '$ORIGIN test.',
    '$TTL 1',
    `@ SOA ns.test. hostmaster.test. ${serial} 60 60 600 1`,
    '@ NS ns.test.',
    'ns A 127.0.0.1',
    ...lines,
    '',
  ].join('\n')
}
