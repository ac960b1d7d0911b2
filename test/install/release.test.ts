import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { billOfMaterials, packRelease } from '../../scripts/package/build-tarball.ts'
import { VERSION } from '../../src/platform/process/version.ts'
import { apiClient } from '../support/api.ts'
import { makeCleanSystem, skipWithoutCleanSystem } from '../support/clean-system.ts'
import { composeOptions } from '../support/compose.ts'
import { ENGINES, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { Images, skipWithoutImages } from '../support/image.ts'
import { runFirstStage } from '../support/image-stage.ts'
import { visit } from '../support/visit.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const url = 'https://example.com/sale'
const [POSTGRESQL = SQLITE] = ENGINES.filter(({ name }) => name === 'PostgreSQL')
const USER = 1_000
const IMAGE_USER = 10_001
const IMAGE_BYTES_MAX = 300 * 1_024 * 1_024
const MEMORY_BYTES = 512 * 1_024 * 1_024
const STOP_SECONDS_MAX = 10
/** 200 MB are copied, packed, unpacked and copied into layers. */
const TIMEOUT_MS = 600_000

describe('a release', { skip: skipWithoutCleanSystem(), timeout: TIMEOUT_MS }, () => {
  let folder: string
  let built: string
  let base: string
  /** What the first stage of the image makes, from the root. */
  let made: string
  let release: string

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-release-'))
    base = path.join(folder, 'base.tar')
    made = path.join(folder, 'made')
    built = path.join(made, 'build/dist')
    release = path.join(made, 'build/release/terse')
    makeCleanSystem(base)
    runFirstStage(ROOT, made)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('has a bill of materials with all its packages', () => {
    const { bomFormat, components } = JSON.parse(billOfMaterials(built))
    assert.equal(bomFormat, 'CycloneDX')
    const names = new Set(components.map(({ name }: { name: string }) => name))
    const { dependencies } = JSON.parse(readFileSync(path.join(built, 'package.json'), 'utf8'))
    for (const name of Object.keys(dependencies)) assert.ok(names.has(name), name)
  })

  describe('as an image', { skip: skipWithoutImages() }, () => {
    let images: Images

    before(() => {
      images = new Images(path.join(folder, 'images'))
      images.build(path.join(ROOT, 'deploy/Dockerfile'), base, made)
    })
    after(() => images.remove())

    test('is small, and runs as an ordinary user', () => {
      assert.ok(images.bytes() < IMAGE_BYTES_MAX, `${images.bytes()}`)
      const user = images.podman('image', 'inspect', '--format', '{{.Config.User}}', 'terse')
      assert.equal(user, `${IMAGE_USER}:${IMAGE_USER}`)
    })

    test('serves as compose.yaml runs it, stops in time, and keeps its data', async (t) => {
      const port = await freePort()
      const compose = composeOptions(path.join(ROOT, 'deploy/compose.yaml'), {})
      images.run('first', port, compose)
      t.after(() => images.try('rm', '--force', 'first', 'second'))
      const output = () => images.podman('logs', 'first')
      await eventually(async () => assert.match(output(), /Terse is running/), 60_000)
      const [token] = /terse_\w+/.exec(output()) ?? []
      const api = apiClient(`http://localhost:${port}`, token)
      const { status } = await api.post('/links', { domain: 'localhost', key: 'spring', url })
      assert.equal(status, 201)
      assert.equal((await visit(port, '/spring')).headers.location, url)
      const node = '/opt/terse/node_modules/.bin/node'
      const memory = images.podman('exec', 'first', node, '-p', 'process.constrainedMemory()')
      assert.equal(Number(memory), MEMORY_BYTES)

      const check = images.podman(
        'image',
        'inspect',
        '--format',
        '{{json .HealthCheck.Test}}',
        'terse',
      )
      const [, ...words] = JSON.parse(check) as readonly string[]
      const health = () => images.try('exec', 'first', ...words).status
      assert.equal(health(), 0)
      const tokens = images.podman('exec', 'first', 'terse', 'token', 'list')
      assert.match(tokens, /first start/)
      const made = images.podman('exec', 'first', 'terse', 'backup', '/backups', '--verify')
      assert.match(made, /Restored and compared: complete/, 'in the second volume')

      images.podman('stop', '--time', String(STOP_SECONDS_MAX), 'first')
      // A container that had to be killed ends with 137.
      assert.equal(images.podman('inspect', '--format', '{{.State.ExitCode}}', 'first'), '0')
      images.podman('rm', 'first')
      images.run('second', port, compose)
      await eventually(async () => {
        assert.equal((await visit(port, '/spring')).headers.location, url)
      }, 60_000)
    })

    test('serves over PostgreSQL as compose.postgres.yaml runs it', async (t) => {
      const { databaseUrl = '', remove } = await POSTGRESQL.createPlace()
      t.after(remove)
      const port = await freePort()
      const file = path.join(ROOT, 'deploy/compose.postgres.yaml')
      const options = composeOptions(file, {
        TERSE_BASE_URL: `http://localhost:${port}`,
        POSTGRES_PASSWORD: 'postgres',
        TERSE_SECRET_KEY: '0f'.repeat(32),
      })
      // The file's own server is an image of a registry.
      images.run('postgres', port, [...options, '--env', `TERSE_DATABASE_URL=${databaseUrl}`])
      t.after(() => images.try('rm', '--force', 'postgres'))
      const output = () => images.podman('logs', 'postgres')
      await eventually(async () => assert.match(output(), /Database +PostgreSQL/), 60_000)
      const [token] = /terse_\w+/.exec(output()) ?? []
      const api = apiClient(`http://localhost:${port}`, token)
      const link = { domain: 'localhost', key: 'spring', url }
      assert.equal((await api.post('/links', link)).status, 201)
      assert.equal((await visit(port, '/spring')).headers.location, url)
    })

    test('is unhealthy when nothing answers', () => {
      const words = ['/opt/terse/node_modules/.bin/node', '/opt/terse/deploy/health-check.js']
      const run = ['run', '--rm', '--network', 'none', '--ulimit', 'nofile=4096:4096']
      const limits = [
        '--ulimit',
        'nproc=4096:4096',
        '--no-healthcheck',
        '--entrypoint',
        words[0] ?? '',
      ]
      assert.equal(images.try(...run, ...limits, 'terse', words[1] ?? '').status, 1)
    })
  })

  describe('as an archive', () => {
    let system: string

    before(() => {
      system = path.join(folder, 'system')
      const home = path.join(system, 'home/visitor')
      for (const one of ['opt', 'home/visitor']) {
        mkdirSync(path.join(system, one), { recursive: true })
      }
      chownSync(home, USER, USER)
      execFileSync('tar', ['-xf', base, '-C', system])
      execFileSync('tar', ['-xzf', packRelease(release, 1), '-C', path.join(system, 'opt')])
    })

    const inside = (...words: string[]) => [
      ...[`--userspec=${USER}:${USER}`, system, '/usr/bin/env', '-i', 'PATH=/usr/bin:/bin'],
      ...['TERSE_DATA_DIR=/home/visitor/data', ...words],
    ]

    test('has the licence of the library that it contains besides Node.js', () => {
      const names = readdirSync(path.join(system, 'opt/terse/lib')).sort()
      const texts = ['GCC-RUNTIME-LIBRARY-EXCEPTION.txt', 'GPL-3.txt', 'README']
      assert.deepEqual(names, [...texts, 'libatomic.so.1'])
    })

    test('runs as an ordinary user where there is nothing but the C library', async (t) => {
      const port = await freePort()
      const words = inside(`TERSE_PORT=${port}`, 'TERSE_HOST=127.0.0.1', '/opt/terse/bin/terse')
      assert.equal(
        execFileSync('chroot', [...words, '--version'], { encoding: 'utf8' }).trim(),
        VERSION,
      )
      // Node.js is not on the PATH: printed commands name the script that brings its own.
      const { stderr } = spawnSync('chroot', [...words, 'workspace', 'list'], { encoding: 'utf8' })
      assert.match(stderr, /create a new one: \/opt\/terse\/bin\/terse serve$/m)
      const service = spawn('chroot', [...words, 'serve', '--processes', '2'])
      const exited = once(service, 'exit')
      t.after(() => service.kill('SIGKILL'))
      let output = ''
      for (const stream of [service.stdout, service.stderr]) {
        stream.on('data', (text) => {
          output += text
        })
      }
      await eventually(async () => assert.match(output, /Terse is running/), 60_000)
      const [token] = /terse_\w+/.exec(output) ?? []
      const api = apiClient(`http://localhost:${port}`, token)
      const link = { domain: 'localhost', key: 'spring', url: 'https://example.com/sale' }
      assert.equal((await api.post('/links', link)).status, 201)
      assert.equal((await visit(port, '/spring')).headers.location, link.url)
      assert.equal((await visit(port, '/app')).status, 200)
      service.kill('SIGTERM')
      assert.deepEqual(await exited, [0, null])
    })
  })
})
