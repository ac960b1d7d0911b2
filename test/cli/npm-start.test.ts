import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'

/** npm itself takes a second of processor time, of which a busy machine has little. */
const PATIENCE_MS = 90_000
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

// Service managers stop the process that they started: npm. A server that outlives it keeps the
// port.
for (const command of ['npm start --silent', 'npx terse serve']) {
  test(`${command} ends its server when it receives SIGTERM`, async (t) => {
    const place = await SQLITE.createPlace()
    t.after(() => place.remove())
    const port = await freePort()
    const [program = '', ...args] = command.split(' ')
    const npm = spawn(program, args, {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...place.env,
        TERSE_PORT: String(port),
      },
      stdio: 'ignore',
    })
    const exited = once(npm, 'exit')
    await eventually(async () => assert.ok(await isListening(port)), PATIENCE_MS)
    npm.kill('SIGTERM')
    await exited
    await eventually(async () => assert.equal(await isListening(port), false), PATIENCE_MS)
  })
}
