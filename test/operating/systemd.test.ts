import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { VARIABLES } from '../../src/app/config/settings.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const UNIT = new URL('../../docs/operating/terse.service', import.meta.url)
const INSTALLED = '/opt/terse/'

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
    assert.ok(program.startsWith(INSTALLED))
    const here = program.replace(INSTALLED, ROOT)
    assert.ok(existsSync(here), here)
    const env = { ...INHERITED_ENV, ...place.env, TERSE_PORT: String(await freePort()) }
    const child = spawn(here, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(child, 'exit')
    t.after(() => child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text
      })
    }
    await eventually(async () => assert.match(output, /Terse is running/), 20_000)
    const [reload = ''] = valuesOf('ExecReload')
    const reloading = spawn('sh', ['-c', reload], { env: { ...env, MAINPID: String(child.pid) } })
    assert.deepEqual(await once(reloading, 'exit'), [0, null])
    await eventually(async () => assert.match(output, /"msg":"restarted"/), 20_000)
    child.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null])
  })

  test('sets only variables that Terse and Node.js know', () => {
    const names = valuesOf('Environment').map((text) => text.split('=')[0] ?? '')
    assert.ok(names.length > 0)
    for (const name of names) assert.ok(VARIABLES.has(name) || name === 'NODE_COMPILE_CACHE', name)
  })
})
