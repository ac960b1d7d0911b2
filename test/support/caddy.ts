import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import type { ProxyProcess } from './proxy-process.ts'
import { startProgram } from './start-program.ts'

const EXAMPLE = fileURLToPath(new URL('../../docs/operating/Caddyfile', import.meta.url))

/**
 * Starts Caddy with the documentation's example, except for its ports and an internal authority in
 * place of a public one.
 *
 * @param tersePort the port of Terse on this machine
 */
export async function startCaddy(program: string, tersePort: number): Promise<ProxyProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-caddy-'))
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const options = [
    'admin off',
    'local_certs',
    'skip_install_trust',
    `http_port ${httpPort}`,
    `https_port ${httpsPort}`,
    'default_bind 127.0.0.1',
    `storage file_system ${path.join(folder, 'storage')}`,
  ]
  const file = path.join(folder, 'Caddyfile')
  writeFileSync(
    file,
    readFileSync(EXAMPLE, 'utf8')
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${tersePort}`)
      .replace(/^\{$/m, `{\n\t${options.join('\n\t')}`),
  )
  const root = path.join(folder, 'storage/pki/authorities/local/root.crt')
  const args = ['run', '--config', file, '--adapter', 'caddyfile']
  const stop = await startProgram(program, args, folder, (log) => {
    assert.match(log, /serving initial configuration/)
    readFileSync(root)
  })
  return {
    httpsPort,
    authorityPem: readFileSync(root, 'utf8'),
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
