import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { VARIABLES } from '../../src/app/config/settings.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const UNIT = new URL('../../deploy/terse.service', import.meta.url)
const INSTALLED = '/opt/terse/bin/terse'
const ANALYZE = 'systemd-analyze'
/** The most of what systemd calls exposure, from 0 to 10; 'OK' begins at 2. */
const EXPOSURE_MAX = 2
const START_MS_MAX = 60_000

const unit = readFileSync(UNIT, 'utf8')

/** Every value of a key in the unit file. */
function valuesOf(name: string): readonly string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

describe('the systemd unit', () => {
  test('starts a service whose processes ExecReload replaces one by one, and which SIGTERM stops', async (t) => {
    const place = await SQLITE.createPlace()
    t.after(() => place.remove())
    const [program = '', ...args] = (valuesOf('ExecStart')[0] ?? '').split(' ')
    assert.equal(program, INSTALLED)
    const words = [path.join(ROOT, 'bin/terse.js'), ...args]
    const env = { ...INHERITED_ENV, ...place.env, TERSE_PORT: String(await freePort()) }
    const child = spawn(process.execPath, words, {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = once(child, 'exit')
    t.after(() => child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text
      })
    }
    await eventually(async () => assert.match(output, /Terse is running/), START_MS_MAX)
    const [reload = ''] = valuesOf('ExecReload')
    const reloading = spawn('sh', ['-c', reload], { env: { ...env, MAINPID: String(child.pid) } })
    assert.deepEqual(await once(reloading, 'exit'), [0, null])
    await eventually(async () => assert.match(output, /"msg":"restarted"/), START_MS_MAX)
    child.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null])
  })

  const { status } = spawnSync(ANALYZE, ['--version'])
  const skip = status !== 0 && `${ANALYZE} is not installed (Debian package: systemd)`
  test(`has an exposure of at most ${EXPOSURE_MAX}`, { skip }, () => {
    const args = ['security', '--offline=true', '--no-pager', fileURLToPath(UNIT)]
    const { stdout, stderr } = spawnSync(ANALYZE, args, { encoding: 'utf8' })
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? []
    assert.ok(Number(exposure) <= EXPOSURE_MAX, stdout + stderr)
  })

  test('sets only variables that Terse and Node.js know', () => {
    const names = valuesOf('Environment').map((text) => text.split('=')[0] ?? '')
    assert.ok(names.length > 0)
    for (const name of names) assert.ok(VARIABLES.has(name) || name === 'NODE_COMPILE_CACHE', name)
  })
})
