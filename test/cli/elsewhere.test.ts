import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { apiClient, expectStatus } from '../support/api.ts'
import { createFolder, ENGINES, type Engine, SQLITE } from '../support/engines.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { makeInstance } from '../support/make-instance.ts'
import { NO_DNS } from '../support/no-dns.ts'
import { runCommand } from '../support/run-command.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))

/** Every command that works on an instance, except `serve`. */
const COMMANDS = [
  'workspace create acme',
  'workspace list',
  'token create --workspace acme',
  'token list',
  'token revoke 019aa3c2-5b1e-7c3f-9d55-6f0e6a1b2c3d',
  'domain add links.acme.test --workspace acme',
  'domain list',
  'domain check links.acme.test',
  'domain default links.acme.test --workspace acme',
  'domain hsts links.acme.test 300',
  'domain remove links.acme.test --workspace acme',
  'node list',
  'node forget 019aa3c2-5b1e-7c3f-9d55-6f0e6a1b2c3d',
  'journal replay .',
  'repair',
]

async function placeFor(t: TestContext, engine: Engine) {
  const place = await engine.createPlace()
  t.after(() => place.remove())
  return place
}

async function countTables(url: string | undefined): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query("select 1 from pg_tables where schemaname = 'public'")
  await client.end()
  return rows.length
}

describe('a command run where no instance exists', () => {
  for (const command of COMMANDS) {
    test(`creates none, and names the folder it looked in: ${command}`, async (t) => {
      const place = await placeFor(t, SQLITE)
      const { code, stdout, stderr } = await runCommand(command.split(' '), place.env)
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.match(stderr, /^terse: [^\n]+--data-dir or TERSE_DATA_DIR[^\n]+: npx terse serve\n$/)
      assert.ok(stderr.includes(` in ${place.dataDir}. `), stderr)
      assert.deepEqual(readdirSync(place.dataDir), [])
    })
  }

  for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
    test('creates no table in a PostgreSQL database, and names the database', async (t) => {
      const place = await placeFor(t, engine)
      const { code, stderr } = await runCommand(['workspace', 'list'], place.env)
      assert.equal(code, 1)
      const name = new URL(String(place.databaseUrl)).pathname.slice(1)
      assert.match(
        stderr,
        new RegExp(`^terse: There is no .*PostgreSQL database "${name}" at [^\\n]+\\n$`),
      )
      assert.equal(await countTables(place.databaseUrl), 0)
      assert.deepEqual(readdirSync(place.dataDir), [])
    })

    test('asks for the PostgreSQL address in the data folder of such a service', async (t) => {
      const place = await placeFor(t, engine)
      await makeInstance(place.env)
      const env = { TERSE_DATA_DIR: place.dataDir }
      const without = await runCommand(['workspace', 'list'], env)
      assert.match(
        without.stderr,
        /If its service uses PostgreSQL, set TERSE_DATABASE_URL for this command too/,
      )
      writeFileSync(
        path.join(place.dataDir, 'terse.env'),
        `TERSE_DATABASE_URL=${place.databaseUrl}\n`,
      )
      assert.equal((await runCommand(['workspace', 'list'], env)).code, 0)
    })
  }

  test('looks in the current folder, and creates nothing there', async (t) => {
    const folder = realpathSync(createFolder())
    t.after(() => rmSync(folder, { recursive: true }))
    const options = { cwd: folder, env: INHERITED_ENV }
    const stderr = await new Promise<string>((resolve) => {
      const args = [PROGRAM, 'token', 'create', '--workspace', 'acme']
      execFile(process.execPath, args, options, (_error, _stdout, text) => resolve(text))
    })
    assert.match(stderr, new RegExp(`no instance of Terse in ${path.join(folder, 'data')}\\. `))
    assert.match(stderr, new RegExp(`: ${PROGRAM} serve\n$`))
    assert.deepEqual(readdirSync(folder), [])
  })
})

describe('a command in a second terminal', () => {
  test('reads the settings file of the service by --data-dir', async (t) => {
    const place = await placeFor(t, SQLITE)
    const settings = ['TERSE_BASE_URL=https://go.example.test', 'TERSE_LOG_FORMAT=pretty']
    writeFileSync(path.join(place.dataDir, 'terse.env'), settings.join('\n'))
    const service = await startProcess(place, { TERSE_BASE_URL: '', TERSE_PROCESSES: '2' })
    t.after(() => service.kill())
    const { stdout } = service.output()
    assert.match(stdout, /^Terse is running at https:\/\/go\.example\.test\n/)
    assert.ok(stdout.includes(path.join(place.dataDir, 'terse.env')))

    // Every process of the service has read the same file.
    const host = 'go.example.test'
    assert.equal((await visit(service.port, '/docs', { headers: { host } })).status, 200)
    const env = { TERSE_DNS_SERVERS: NO_DNS }
    const at = ['--data-dir', place.dataDir]
    const made = await runCommand(['token', 'create', '--workspace', 'acme', ...at], env)
    const api = apiClient(`http://127.0.0.1:${service.port}`, made.stdout.trim())
    const link = { domain: host, key: 'spring', url: 'https://example.com/' }
    expectStatus(await api.post('/links', link), 201)
    const add = ['domain', 'add', 'links.acme.test', '--workspace', 'acme', ...at]
    const added = await runCommand(add, env)
    assert.match(added.stdout, /^CNAME +links +go\.example\.test$/m)

    assert.equal(await service.stop(), 0)
    const { stderr } = service.output()
    for (const line of stderr.trimEnd().split('\n')) assert.match(line, /^\d{4}-\d\d-\d\d \d\d:/)
    for (const number of [1, 2]) {
      assert.match(stderr, new RegExp(`^\\S+ \\S+ info +\\[${number}\\] stopping$`, 'm'))
    }
  })

  test('reads its settings, the data folder included, from the file of --env-file', async (t) => {
    const place = await placeFor(t, SQLITE)
    await makeInstance(place.env)
    const elsewhere = createFolder()
    t.after(() => rmSync(elsewhere, { recursive: true }))
    const file = path.join(elsewhere, 'service.env')
    mkdirSync(path.join(elsewhere, 'none'))
    writeFileSync(file, `TERSE_DATA_DIR=${place.dataDir}\n`)
    assert.equal(
      (await runCommand(['workspace', 'create', 'acme', '--env-file', file], {})).code,
      0,
    )
    const named = await runCommand(['workspace', 'list'], { TERSE_ENV_FILE: file })
    assert.match(named.stdout, /acme/)
    const first = ['--data-dir', path.join(elsewhere, 'none'), 'workspace', 'list']
    const other = await runCommand([...first, '--env-file', file], {})
    assert.match(other.stderr, /There is no instance of Terse in \S+none\. /)
    assert.ok(!existsSync(path.join(elsewhere, 'none', 'terse.db')))
  })

  test('warns when every user can read a secret in the file', async (t) => {
    const place = await placeFor(t, SQLITE)
    await makeInstance({ ...place.env, TERSE_SECRET_KEY: 'ab'.repeat(32) })
    const file = path.join(place.dataDir, 'terse.env')
    writeFileSync(file, `TERSE_SECRET_KEY=${'ab'.repeat(32)}\n`, { mode: 0o644 })
    chmodSync(place.dataDir, 0o755)
    const args = [PROGRAM, 'workspace', 'list', '--data-dir', place.dataDir]
    const options = { env: { ...INHERITED_ENV, TERSE_LOG_FORMAT: 'pretty' } }
    const stderr = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, options, (_error, _stdout, text) => resolve(text))
    })
    assert.match(stderr, new RegExp(`warn +every user can read the secrets .* file=${file}\n$`))
  })
})
