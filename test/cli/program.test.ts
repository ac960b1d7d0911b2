import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Place, SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'

const BIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))

describe('the command line', { concurrency: 2 }, () => {
  let place: Place
  before(async () => {
    place = await SQLITE.createPlace()
  })
  after(() => place.remove())

  const COMMANDS: { command: string; example: RegExp; options: string[] }[] = [
    { command: 'serve', example: /terse serve/, options: [] },
    { command: 'workspace create', example: /terse workspace create acme/, options: ['<name>'] },
    { command: 'workspace list', example: /terse workspace list/, options: ['--json'] },
    {
      command: 'token create',
      example: /TOKEN=\$\(npx terse token create --workspace acme\)/,
      options: ['--workspace', '--name', '--scopes', '--expires'],
    },
    { command: 'token list', example: /terse token list/, options: ['--workspace', '--json'] },
    { command: 'token revoke', example: /terse token revoke \S+/, options: ['<id>'] },
    {
      command: 'domain add',
      example: /terse domain add \S+ --workspace acme/,
      options: ['<host>'],
    },
    {
      command: 'domain list',
      example: /terse domain list --workspace acme/,
      options: ['--workspace', '--json'],
    },
    {
      command: 'domain check',
      example: /terse domain check \S+ --wait/,
      options: ['<host>', '--workspace', '--wait', '--json'],
    },
    {
      command: 'domain remove',
      example: /terse domain remove \S+ --workspace acme/,
      options: ['<host>', '--workspace'],
    },
    { command: 'doctor', example: /terse doctor/, options: ['[host]', '--json'] },
  ]
  for (const { command, example, options } of COMMANDS) {
    test(`explains terse ${command}, with an example`, async () => {
      const { code, stdout, stderr } = await runCommand(
        [...command.split(' '), '--help'],
        place.env,
      )
      assert.equal(code, 0)
      assert.equal(stderr, '')
      assert.match(stdout, new RegExp(`^Usage: npx terse ${command}`))
      const [, shown = ''] = stdout.split('Example:\n')
      assert.match(shown, example)
      for (const option of options) assert.ok(stdout.includes(option), option)
    })
  }

  test('lists its commands, and prints its version', async () => {
    const help = await runCli(['--help'], {})
    assert.equal(help.code, 0)
    for (const name of ['serve', 'workspace', 'token', 'domain', 'doctor']) {
      assert.match(help.stdout, new RegExp(`^ {2}${name}\\b`, 'm'))
    }
    assert.match((await runCli(['--version'], {})).stdout, /^\d+\.\d+\.\d+\n$/)
  })

  const SECRET = 'f00dfeed'.repeat(9)
  const REFUSED: {
    name: string
    args: string[]
    env?: Record<string, string>
    code?: number
    expected: RegExp
    not?: RegExp
  }[] = [
    { name: 'an unknown command', args: ['sreve'], code: 5, expected: /unknown command 'sreve'/ },
    {
      name: 'an unknown option',
      args: ['doctor', '--jsno'],
      code: 5,
      expected: /unknown option '--jsno'/,
    },
    { name: 'a missing argument', args: ['token', 'revoke'], code: 5, expected: /'id'/ },
    {
      name: 'an argument too many',
      args: ['workspace', 'create', 'a', 'b'],
      code: 5,
      expected: /too many/,
    },
    {
      name: 'an unreachable database',
      args: ['token', 'create', '--workspace', 'acme'],
      env: { TERSE_DATABASE_URL: 'postgres://terse:hunter2@127.0.0.1:1/terse' },
      expected: /^terse: The PostgreSQL database "terse" at 127\.0\.0\.1:1 .*ECONNREFUSED[^\n]*\n$/,
      not: /hunter2/,
    },
    {
      name: 'an invalid key',
      args: ['workspace', 'list'],
      env: { TERSE_SECRET_KEY: SECRET },
      expected: /TERSE_SECRET_KEY must be 64 hexadecimal digits/,
      not: /f00dfeed/,
    },
  ]
  for (const { name, args, env, code: expectedCode = 1, expected, not } of REFUSED) {
    test(`rejects ${name} on standard error, without a stack trace`, async () => {
      const { code, stdout, stderr } = await runCli(args, { ...place.env, ...env })
      assert.equal(code, expectedCode)
      assert.equal(stdout, '')
      assert.match(stderr, /^terse: /)
      assert.match(stderr, expected)
      assert.doesNotMatch(stderr, /\n\s+at |node:internal/)
      if (not !== undefined) assert.doesNotMatch(stderr + stdout, not)
    })
  }

  test('lists every configuration error at once, and starts nothing', async (t) => {
    const other = await SQLITE.createPlace()
    t.after(() => other.remove())
    const { code, stdout, stderr } = await runCli(['serve'], {
      ...other.env,
      TERSE_PORT: 'eighty',
      TERSE_BASE_URL: 'go.example.com',
      TERSE_SECRET_KEY: SECRET,
      TERSE_DATABASE_URL_FILE: '/nowhere/at/all',
      TERSE_TRUST_PROXY: '10.0.0.0/8,10.0.0.0/99',
      TERSE_RATE_LIMTI: '5',
    })
    assert.equal(code, 1)
    assert.equal(stdout, '')
    for (const fault of [
      /TERSE_PORT must be a whole number from 1 to 65535/,
      /TERSE_BASE_URL must be an http:\/\/ or https:\/\/ address/,
      /TERSE_SECRET_KEY must be 64 hexadecimal digits/,
      /TERSE_DATABASE_URL_FILE names a file that cannot be read \(ENOENT\)/,
      /TERSE_TRUST_PROXY "10\.0\.0\.0\/99"/,
      /TERSE_RATE_LIMTI is not a setting/,
    ]) {
      assert.match(stderr, fault)
    }
    assert.doesNotMatch(stderr, /f00dfeed|\n\s+at /)
    assert.deepEqual(readdirSync(other.dataDir), [])
  })

  test('reads a secret from a file, and rejects one that is given twice', async (t) => {
    const other = await SQLITE.createPlace()
    t.after(() => other.remove())
    const file = path.join(other.dataDir, 'url')
    const port = await freePort()
    writeFileSync(file, `postgres://terse:hunter2@127.0.0.1:${port}/terse\n`)
    const env = { ...other.env, TERSE_DATABASE_URL_FILE: file }
    const fromFile = await runCli(['workspace', 'list'], env)
    assert.match(fromFile.stderr, new RegExp(`ECONNREFUSED 127\\.0\\.0\\.1:${port}`))
    assert.doesNotMatch(fromFile.stderr, /hunter2/)
    const both = { ...env, TERSE_DATABASE_URL: 'postgres://terse:hunter2@127.0.0.1/terse' }
    const twice = await runCli(['workspace', 'list'], both)
    assert.match(twice.stderr, /TERSE_DATABASE_URL and TERSE_DATABASE_URL_FILE are both set/)
    assert.doesNotMatch(twice.stderr, /hunter2/)
  })

  test('shares compiled modules among its processes, and runs where it cannot store them', async () => {
    const traced = { NODE_COMPILE_CACHE: '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
    await runCli(['--version'], traced)
    assert.match(
      (await runCli(['--version'], traced)).stderr,
      /(?:main\.js|run-cli\.ts) was accepted/,
    )

    const noFolder = await runCli(['--version'], { NODE_COMPILE_CACHE: BIN })
    assert.deepEqual([noFolder.code, noFolder.stderr], [0, ''])
  })

  test('keeps the space of new objects small, however many are made', async () => {
    // Once the command has ended, in its process.
    const module = `data:text/javascript,
      import v8 from 'node:v8'
      process.on('exit', () => {
        const kept = []
        for (let nth = 0; nth < 2e6; nth += 1) {
          const made = { values: [nth] }
          if (nth % 10 === 0) kept.push(made)
        }
        const space = v8.getHeapSpaceStatistics().find((each) => each.space_name === 'new_space')
        process.stderr.write(String(space.space_size / 2 ** 20))
      })`
    const { stderr } = await runCli(['--version'], {
      NODE_OPTIONS: `--import=${encodeURI(module)}`,
    })
    assert.ok(Number(stderr) > 0 && Number(stderr) < 24, `${stderr} MiB`)
  })

  test('is installed as the bin, which passes on arguments, output and exit code', async (t) => {
    const other = await SQLITE.createPlace()
    t.after(() => other.remove())
    const env = { PATH: process.env.PATH, ...other.env }
    const run = promisify(execFile)
    await makeInstance(other.env)
    const { stdout } = await run(BIN, ['token', 'create', '--workspace', 'acme'], { env })
    assert.match(stdout, /^terse_[0-9A-Za-z]{36}\n$/)
    await assert.rejects(run(BIN, ['workspace', 'create', 'acme'], { env }), {
      code: 5,
      stderr: 'terse: name "acme" is taken\n',
    })
  })
})
