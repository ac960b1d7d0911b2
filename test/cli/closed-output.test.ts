import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { expectStatus } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { makeInstance } from '../support/make-instance.ts'
import { NO_ACME } from '../support/no-acme.ts'
import { NO_DNS } from '../support/no-dns.ts'
import { type Service, startService } from '../support/service.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
/** Everything that is written to it fails with ENOSPC. */
const FULL_DISK = '/dev/full'
const ENDS_WITHIN_MS = 20_000

type Outcome = { readonly code: number | null; readonly other: string }

/**
 * Runs a command whose output has no reader.
 *
 * @param options.closed the output whose pipe is closed
 * @param options.chunks how many chunks of it are read first
 * @returns the exit code, and what the command wrote to its other output
 */
async function runUnread(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  options: { readonly closed?: 'stdout' | 'stderr'; readonly chunks?: number } = {},
): Promise<Outcome> {
  const { closed = 'stdout', chunks = 0 } = options
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...INHERITED_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const other = text(closed === 'stdout' ? child.stderr : child.stdout)
  for (let read = 0; read < chunks; read += 1) await once(child[closed], 'data')
  child[closed].destroy()
  const [code] = await exited
  return { code, other: await other }
}

describe('a command whose pipe is closed', { concurrency: 2 }, () => {
  let service: Service
  let env: Record<string, string>
  let damaged: Place
  before(async () => {
    damaged = await SQLITE.createMigratedPlace()
    writeFileSync(path.join(damaged.dataDir, 'terse.db'), 'not a database')
    service = await startService(SQLITE)
    env = service.place.env
    const api = await service.api('acme')
    for (let nth = 0; nth < 40; nth += 1) {
      const url = `https://example.com/${'long/'.repeat(1_500)}${nth}`
      expectStatus(await api.post('/links', { domain: 'localhost', url }), 201)
    }
  })
  after(async () => {
    await service.stop()
    await damaged.remove()
  })

  const SUCCESSFUL = ['--help', 'serve --help', 'workspace list', 'event list --workspace acme']
  for (const command of SUCCESSFUL) {
    test(`ends without a word: ${command}`, async () => {
      assert.deepEqual(await runUnread(command.split(' '), env), { code: 0, other: '' })
    })
  }

  test('ends with its own status: doctor, which finds a problem', async () => {
    const { code, other } = await runUnread(['doctor'], damaged.env)
    assert.deepEqual({ code, other }, { code: 1, other: '' })
  })

  test('ends with its own status where standard error is closed', async () => {
    const unknown = await runUnread(['sreve'], env, { closed: 'stderr' })
    assert.deepEqual(unknown, { code: 5, other: '' })
    const fault = await runUnread(['token', 'list', '--workspace', 'none'], env, {
      closed: 'stderr',
    })
    assert.deepEqual(fault, { code: 4, other: '' })
  })

  for (const format of ['ndjson', 'csv-zip']) {
    test(`stops an export in the middle: ${format}`, async () => {
      const args = ['export', '--workspace', 'acme', '--format', format]
      const chunks = format === 'ndjson' ? 1 : 0
      assert.deepEqual(await runUnread(args, env, { chunks }), { code: 0, other: '' })
    })
  }
})

const skip = !existsSync(FULL_DISK) && `needs ${FULL_DISK}, which only Linux has`

describe('a process whose output is on a full disk', { skip }, () => {
  let place: Place
  let full: number
  before(async () => {
    full = openSync(FULL_DISK, 'w')
    place = await SQLITE.createMigratedPlace()
    await makeInstance(place.env)
  })
  after(async () => {
    closeSync(full)
    await place.remove()
  })

  test('fails in one line: a command', async () => {
    const child = spawn(process.execPath, [MAIN, 'doctor'], {
      env: { ...INHERITED_ENV, ...place.env },
      stdio: ['ignore', full, 'pipe'],
    })
    const exited = once(child, 'exit')
    const shown = await text(child.stderr as Readable)
    assert.match(shown, /^terse: Standard output cannot be written: ENOSPC[^\n]*\n$/)
    assert.equal((await exited)[0], 1)
  })

  test('serves, and stops when it is asked to, without its log', async () => {
    const port = await freePort()
    const child = spawn(process.execPath, [MAIN, 'serve'], {
      env: {
        ...INHERITED_ENV,
        ...place.env,
        TERSE_PORT: String(port),
        // This has it log a warning at the start.
        TERSE_BASE_URL: `http://go.example.com:${port}`,
        TERSE_DNS_SERVERS: NO_DNS,
        TERSE_ACME_DIRECTORY: NO_ACME,
      },
      stdio: ['ignore', 'pipe', full],
      timeout: ENDS_WITHIN_MS,
      killSignal: 'SIGKILL',
    })
    const exited = once(child, 'exit')
    await once(child.stdout as Readable, 'data')
    assert.equal((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200)
    child.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null])
  })
})
