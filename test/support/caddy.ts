import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findOrInstall } from './debian-program.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

const EXAMPLE = fileURLToPath(new URL('../../docs/operating/Caddyfile', import.meta.url))
const START_DEADLINE_MS = 20_000

/** Caddy with the example of the documentation, but for its ports and its authority. */
export type Caddy = {
  readonly httpsPort: number
  /** The certificate of its own authority, which stands for a public one. */
  readonly authorityPem: string
  stop(): Promise<void>
}

/** Undefined where there is no Caddy, and none can be had. */
export function findCaddy(): string | undefined {
  return findOrInstall('caddy', 'caddy')
}

/** @param tersePort at which Terse answers on this machine */
export async function startCaddy(program: string, tersePort: number): Promise<Caddy> {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-caddy-'))
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const file = path.join(folder, 'Caddyfile')
  writeFileSync(file, adapted(folder, tersePort, httpPort, httpsPort))
  let log = ''
  const child = spawn(program, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await eventually(async () => {
      assert.equal(child.exitCode, null, log)
      assert.match(log, /serving initial configuration/)
    }, START_DEADLINE_MS)
    const root = path.join(folder, 'storage/pki/authorities/local/root.crt')
    const authorityPem = await eventually(async () => readFileSync(root, 'utf8'))
    return { httpsPort, authorityPem, stop }
  } catch (error) {
    await stop()
    throw new Error(`Caddy did not start:\n${log}`, { cause: error })
  }
}

function adapted(folder: string, tersePort: number, httpPort: number, httpsPort: number): string {
  const options = [
    'admin off',
    'local_certs',
    'skip_install_trust',
    `http_port ${httpPort}`,
    `https_port ${httpsPort}`,
    'default_bind 127.0.0.1',
    `storage file_system ${path.join(folder, 'storage')}`,
  ]
  return readFileSync(EXAMPLE, 'utf8')
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${tersePort}`)
    .replace(/^\{$/m, `{\n\t${options.join('\n\t')}`)
}
