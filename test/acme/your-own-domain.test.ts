import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Finding } from '../../src/operations/doctor/host-findings.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { visitSecurely } from '../support/https.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { type Pebble, startPebble } from '../support/pebble.ts'
import { skipWithout } from '../support/programs.ts'
import { runCli } from '../support/run-cli.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

const PAGE = new URL('../../docs/custom-domains.md', import.meta.url)
const skip = skipWithout('curl', 'pebble', 'knotd')
const run = promisify(execFile)
const ISSUED_MS = 90_000
const SERVICE = 'go.example.test'
const ALWAYS = ['go.example A 127.0.0.1', 'elsewhere.acme A 127.0.0.3']

const TERSE = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
/**
 * The environment of a user whose machine resolves names to the service, and trusts the test's
 * authority.
 */
const SHELL = `
npx() { shift; node "$TERSE" "$@"; }
curl() { command curl --silent --cacert "$ROOT" --connect-to "::127.0.0.1:$PORT" "$@"; }
`

/** The host names of the page, under a top-level domain that a local DNS server may serve. */
const page = readFileSync(PAGE, 'utf8').replaceAll(/\b(acme|example)\.com\b/g, '$1.test')

/** The commands on the page, line by line, without the prompt. */
const typed = [...page.matchAll(/^\$ (.+)$/gm)].map(([, line = '']) => line)

/** The words of the one line of the page that starts like this. */
function lineFor(beginning: string): readonly string[] {
  const line = typed.find((each) => each.startsWith(beginning))
  assert.ok(line, `the page does not say to type "${beginning} …"`)
  return line.split(' ')
}

describe('the page “Your own domain, with HTTPS”', () => {
  let dns: DnsServer
  let pebble: Pebble
  let place: Place
  let service: ServiceProcess
  let env: Record<string, string>
  before(async () => {
    if (skip) return
    dns = await startDnsServer(ALWAYS)
    pebble = await startPebble({ dnsServer: dns.address })
    place = await SQLITE.createMigratedPlace()
    const [, settings] = /^cat > data\/terse\.env <<'END'\n(.*?)^END$/ms.exec(page) ?? []
    assert.ok(settings, 'the page says what to write into terse.env')
    writeFileSync(path.join(place.dataDir, 'terse.env'), settings)
    env = {
      ...place.env,
      // Ports 80 and 443 are mapped to two free ports, and the machine has a DNS server.
      TERSE_PORT: String(pebble.httpPort),
      TERSE_HTTPS_PORT: String(pebble.tlsPort),
      TERSE_DNS_SERVERS: dns.address,
      TERSE_PUBLIC_ADDRESSES: '127.0.0.0/8',
      TERSE_ACME_DIRECTORY: pebble.directory,
      TERSE_ACME_CA_FILE: pebble.caFile,
    }
    service = await startProcess(place, { ...env, TERSE_BASE_URL: '' })
    await type('workspace create')
  })
  after(async () => {
    await service?.stop()
    await place?.remove()
    await pebble?.stop()
    await dns?.stop()
  })

  async function terse(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runCli(args, env)
    assert.equal(code, 0, stderr)
    return stdout
  }

  /** Runs a line of the page that begins with `npx terse`. */
  const type = (beginning: string) => terse(...lineFor(`npx terse ${beginning}`).slice(2))

  /**
   * Copies TYPE, NAME and VALUE into a zone, as a control panel does that appends the zone's name
   * itself.
   */
  function copied(output: string): string[] {
    const rows = [...output.matchAll(/^(TXT|CNAME|A) +(\S+) +(\S+)$/gm)]
    return rows.map(([, kind, name, value]) =>
      kind === 'TXT' ? `${name}.acme TXT "${value}"` : `${name}.acme ${kind} ${value}.`,
    )
  }

  test('leads, step by step, to a short link whose certificate curl trusts', { skip }, async () => {
    const output = await type('domain add')
    const lines = copied(output)
    assert.equal(lines.length, 2, output)
    await dns.serve([...ALWAYS, ...lines])
    await type('domain check')

    const ca = await pebble.root()
    const root = path.join(place.dataDir, 'root.pem')
    writeFileSync(root, ca)
    await eventually(() => visitSecurely(pebble.tlsPort, SERVICE, '/livez', { ca }), ISSUED_MS)
    const [, making] = /^(TOKEN=.*?)^```$/ms.exec(page) ?? []
    assert.ok(making, 'the page says how to make a link')
    const made = await run('bash', ['-c', `${SHELL}${making}`], {
      env: { ...INHERITED_ENV, ...env, ROOT: root, PORT: String(pebble.tlsPort), TERSE },
    })
    assert.equal(JSON.parse(made.stdout).link, 'https://links.acme.test/spring', made.stdout)
    const [program = '', ...args] = lineFor('curl')
    const address = args.at(-1) ?? ''
    const { host } = new URL(address)
    const trusted = [
      '--silent',
      '--cacert',
      root,
      '--connect-to',
      `${host}:443:127.0.0.1:${pebble.tlsPort}`,
    ]
    const { stdout } = await eventually(() => run(program, [...trusted, ...args]), ISSUED_MS)
    assert.match(stdout, /^HTTP\/1\.1 302 .*\r\n/)
    assert.match(stdout, /^location: https:\/\/example\.test\/sale\r$/im)
    // curl without that root rejects it, so the check above did verify the certificate.
    await assert.rejects(run(program, [...trusted.toSpliced(1, 2), ...args]))

    assert.match(await terse('domain', 'list'), /^links\.acme\.test +active +until 20\d\d-/m)
    const findings: Finding[] = JSON.parse((await runCli(['doctor', host, '--json'], env)).stdout)
    const certificate = findings.find(({ subject }) => subject === 'certificate')
    assert.equal(certificate?.state, 'ok', JSON.stringify(findings))
  })

  test('names the place that explains why a certificate is missing, and that place explains it', {
    skip,
  }, async () => {
    const host = 'elsewhere.acme.test'
    const output = await terse('domain', 'add', host, '--workspace', 'acme')
    const proof = copied(output).filter((line) => line.includes('TXT'))
    await dns.serve([...ALWAYS, ...proof])
    await terse('domain', 'check', host, '--wait', '1')
    const why = /127\.0\.0\.3/
    await eventually(async () => {
      const { stdout } = await runCli(['doctor', host, '--json'], env)
      const findings: Finding[] = JSON.parse(stdout)
      const problem = findings.find(({ subject }) => subject === 'certificate')
      assert.equal(problem?.state, 'problem')
      assert.match(problem?.text ?? '', why)
      assert.match(problem?.advice ?? '', /next attempt is at 20\d\d-/)
    }, ISSUED_MS)
    assert.match(await terse('domain', 'list'), /^elsewhere\.acme\.test +active +failing/m)
    const [listed] = JSON.parse(await terse('domain', 'list', '--json')).filter(
      ({ domain }: { domain: string }) => domain === host,
    )
    assert.match(listed.certificate.problem, why)
    assert.match(service.output().stderr, /certificate order failed.*/)
    assert.match(page, /npx terse doctor links\.acme\.test/)
  })
})
