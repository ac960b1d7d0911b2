import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandLine } from '../../src/identity/actor.ts'
import type { Finding } from '../../src/operations/doctor/host-findings.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { makeInstance } from '../support/make-instance.ts'
import { skipWithout } from '../support/programs.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const TARGET = 'go.terse.test'
const ALWAYS = [
  'go.terse A 127.0.0.1',
  'stray A 127.0.0.1',
  'stray AAAA 2001:db8:bad::1',
  'stray CAA 0 issue "other.example"',
  'proxied A 104.16.1.1',
  'allowed A 127.0.0.1',
  'allowed CAA 0 issue "letsencrypt.org; validationmethods=http-01"',
  '@ CAA 0 issue ";"',
]

describe('terse domain', { skip: skipWithout('knotd') }, () => {
  let dns: DnsServer
  let place: Place
  let env: Record<string, string>
  before(async () => {
    dns = await startDnsServer(ALWAYS)
    place = await SQLITE.createMigratedPlace()
    env = {
      ...place.env,
      // Nothing listens on this port.
      TERSE_BASE_URL: `https://${TARGET}:${await freePort()}`,
      TERSE_DNS_SERVERS: dns.address,
    }
    await makeInstance(env, async ({ workspaces }) => {
      await workspaces.create(commandLine, 'acme')
      await workspaces.create(commandLine, 'globex')
    })
  })
  after(async () => {
    await dns.stop()
    await place.remove()
  })

  /** Runs a command that must succeed, and returns its output. */
  async function run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runCommand(args, env)
    assert.equal(code, 0, stderr)
    return stdout
  }

  async function proofOf(host: string, workspace = 'acme'): Promise<string> {
    const args = ['domain', 'check', host, '--workspace', workspace, '--json']
    const { stdout } = await runCommand(args, env)
    const { records } = JSON.parse(stdout)
    return records[0].value
  }

  test('prints an international domain in both forms', async () => {
    const host = 'xn--mnchen-3ya.acme.test'
    const both = `münchen.acme.test (${host})`
    const added = await run('domain', 'add', 'münchen.acme.test', '--workspace', 'acme')
    assert.ok(added.startsWith(`${both} is pending.`), added)
    assert.ok((await run('domain', 'list')).includes(both))
    const [listed] = JSON.parse(await run('domain', 'list', '--json'))
    assert.equal(listed.domain, host)
    assert.equal(listed.unicode_domain, 'münchen.acme.test')
    const found = (await runCommand(['doctor', 'münchen.acme.test'], env)).stdout
    assert.ok(found.includes(`${both} is pending in acme`), found)
    const removed = ['domain', 'remove', 'münchen.acme.test', '--workspace', 'acme']
    assert.ok((await runCommand(removed, env)).stderr.startsWith(`${both} is removed`))
  })

  test('shows and sets the default domain of a workspace', async () => {
    const say = async (...args: string[]) =>
      (await runCommand(['domain', 'default', ...args, '--workspace', 'acme'], env)).stderr
    assert.equal(await say(), 'acme has no default domain.\n')
    await run('domain', 'add', 'usual.acme.test', '--workspace', 'acme')
    assert.equal(await say('usual.acme.test'), 'New links of acme start on usual.acme.test.\n')
    assert.equal(await say(), 'New links of acme start on usual.acme.test.\n')
    assert.match(await say('usual.acme.test', '--none'), /give a host or --none, not both/)
    assert.match(await say('none.acme.test'), /must be a domain of this workspace/)
    assert.equal(await say('--none'), 'acme has no default domain.\n')
    await run('domain', 'remove', 'usual.acme.test', '--workspace', 'acme')
  })

  test('adds a domain, prints the DNS records to set, and waits until it is active', async () => {
    const added = (await runCli(['domain', 'add', 'Go.Acme.test', '--workspace', 'acme'], env))
      .stdout
    assert.match(added, /^go\.acme\.test is pending\./)
    assert.match(added, /^CNAME +go +go\.terse\.test$/m)
    assert.match(added, /^TXT +_terse\.go +terse-verify=[0-9a-f]{40}$/m)
    assert.match(added, /terse domain check go\.acme\.test --workspace acme --wait/)
    const proof = /terse-verify=\S+/.exec(added)?.[0]

    const args = ['domain', 'check', 'go.acme.test', '--wait']
    const waiting = spawn(process.execPath, [MAIN, ...args], {
      env: { ...INHERITED_ENV, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    const missingReported = new Promise<void>((resolve) => {
      waiting.stderr.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.includes('Add a TXT record')) resolve()
      })
    })
    const ended = once(waiting, 'close')
    await missingReported
    await dns.serve([...ALWAYS, `go.acme CNAME ${TARGET}.`, `_terse.go.acme TXT "${proof}"`])
    assert.deepEqual(await ended, [0, null], output)
    assert.match(output, /go\.acme\.test is active\.\n$/)
    assert.equal(
      output.match(/Add a TXT record/g)?.length,
      1,
      'an unchanged record is printed once',
    )
    assert.ok(!output.includes('\r'), 'no terminal is attached')

    const listed = JSON.parse((await runCli(['domain', 'list', '--json'], env)).stdout)
    assert.deepEqual(
      listed.map(({ domain, status, workspace }: Record<string, string>) => [
        domain,
        status,
        workspace,
      ]),
      [['go.acme.test', 'active', 'acme']],
    )
    assert.match(
      await run('domain', 'list', '--workspace', 'acme'),
      /^DOMAIN +STATUS +CERTIFICATE +WORKSPACE +CREATED\ngo\.acme\.test +active +- +acme +\d{4}-/,
    )
  })

  test('checks once a minute, exits with 1 while pending, and asks for a workspace where the host is ambiguous', async () => {
    await run('domain', 'add', 'two.acme.test', '--workspace', 'acme')
    const check = ['domain', 'check', 'two.acme.test']
    const first = await runCli(check, env)
    assert.equal(first.code, 1)
    assert.match(
      first.stdout,
      /two\.acme\.test is pending[\s\S]*Add a TXT record[\s\S]*add the record CNAME two/,
    )
    const second = await runCommand(check, env)
    assert.equal(second.code, 1)
    assert.match(second.stderr, /once a minute/)
    await run('domain', 'add', 'two.acme.test', '--workspace', 'globex')
    const ambiguous = await runCommand(check, env)
    assert.match(ambiguous.stderr, /workspace is needed: .* acme, globex/)
    const missing = await runCommand(['domain', 'check', 'none.acme.test'], env)
    assert.deepEqual(
      [missing.code, missing.stderr],
      [4, 'terse: Domain none.acme.test not found.\n'],
    )
  })

  test('stops waiting after the given number of minutes', async () => {
    await run('domain', 'add', 'never.acme.test', '--workspace', 'acme')
    const { code, stderr } = await runCommand(
      ['domain', 'check', 'never.acme.test', '--wait', '0'],
      env,
    )
    assert.equal(code, 1)
    assert.match(stderr, /never\.acme\.test is pending/)
  })

  test('turns HSTS on for a domain, and off again', async () => {
    await run('domain', 'add', 'hsts.acme.test', '--workspace', 'acme')
    const hsts = (...args: string[]) => runCli(['domain', 'hsts', 'hsts.acme.test', ...args], env)
    const said = async (...args: string[]) => (await hsts(...args)).stderr
    assert.equal(
      await said('300'),
      'hsts.acme.test sends an HSTS header: browsers use only HTTPS for 300 seconds after each visit.\n',
    )
    assert.match(await said('0'), /ends HSTS in browsers/)
    assert.match(await said('off', '--workspace', 'acme'), /sends no HSTS header/)
    for (const wrong of ['-1', '1.5', 'soon', '63072001']) {
      assert.equal((await hsts('--', wrong)).code, 5, wrong)
    }
    assert.equal((await hsts('300', '--workspace', 'globex')).code, 4)
  })

  test('removes a domain, only from its own workspace', async () => {
    await run('domain', 'add', 'gone.acme.test', '--workspace', 'acme')
    const remove = (workspace: string) =>
      runCli(['domain', 'remove', 'gone.acme.test', '--workspace', workspace], env)
    assert.equal((await remove('globex')).code, 4)
    assert.equal((await remove('acme')).stderr, 'gone.acme.test is removed from acme.\n')
    assert.doesNotMatch(await run('domain', 'list'), /gone/)
    const wrong = await runCommand(['domain', 'add', 'x.test', '--workspace', 'nobody'], env)
    assert.match(wrong.stderr, /Workspace .*not found/)
  })

  test('the doctor reports on a host: owner, proof, route, stray addresses, proxy, CAA', async () => {
    const examine = async (host: string) => {
      const { code, stdout, stderr } = await runCommand(['doctor', host, '--json'], env)
      assert.equal(stderr, '')
      const findings: Finding[] = JSON.parse(stdout)
      const states = findings.map(({ subject, state }) => `${subject} ${state}`)
      return { code, findings, states }
    }
    await run('domain', 'add', 'stray.test', '--workspace', 'acme')
    const stray = await examine('stray.test')
    assert.equal(stray.code, 1)
    assert.deepEqual(stray.states, [
      'domain warning',
      'proof problem',
      'routing ok',
      'address problem',
      'proxy ok',
      'caa problem',
      'certificate skipped',
      'https warning',
    ])
    const advice = (subject: string) =>
      stray.findings.find((finding) => finding.subject === subject)?.advice ?? ''
    assert.ok(advice('proof').includes(await proofOf('stray.test')))
    assert.match(advice('address'), /2001:db8:bad::1/)
    assert.match(advice('caa'), /stray\.test: 0 issue "letsencrypt\.org"/)

    const proxied = await examine('proxied.test')
    assert.deepEqual(proxied.states, [
      'domain warning',
      'proof skipped',
      'routing problem',
      'proxy warning',
      'caa problem',
      'certificate skipped',
      'https skipped',
    ])
    const allowed = await examine('allowed.test')
    assert.equal(allowed.code, 0)
    assert.ok(allowed.states.includes('caa ok'))
    assert.deepEqual((await examine('tour.localhost')).states, [
      'domain warning',
      'routing skipped',
      'certificate skipped',
    ])
    const { stdout } = await runCli(['doctor', 'stray.test'], env)
    assert.match(
      stdout,
      /^problem +caa +the CAA records at stray\.test allow .*only from other\.example$/m,
    )
    const refused = await runCommand(['doctor', 'https://go.acme.test/'], env)
    assert.deepEqual([refused.code, refused.stdout], [5, ''])
    assert.match(refused.stderr, /^terse: host must be a host name/)
  })
})
