import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import type { ProxyProcess } from './proxy-process.ts'
import { RawConnection } from './raw-http.ts'
import { startProgram } from './start-program.ts'
import { createTestAuthority } from './test-authority.ts'

const EXAMPLE = fileURLToPath(new URL('../../docs/operating/nginx.conf', import.meta.url))

/**
 * Starts nginx with the documentation's example, except for its ports and folders, and with
 * certificates for these hosts.
 *
 * @param tersePort the port of Terse on this machine
 */
export async function startNginx(
  program: string,
  tersePort: number,
  hosts: readonly string[],
): Promise<ProxyProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-nginx-'))
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const authority = createTestAuthority()
  for (const host of hosts) {
    const live = path.join(folder, 'live', host)
    mkdirSync(live, { recursive: true })
    const { chainPem, keyPem } = authority.issue(host)
    writeFileSync(path.join(live, 'fullchain.pem'), chainPem)
    writeFileSync(path.join(live, 'privkey.pem'), keyPem)
  }
  const example = readFileSync(EXAMPLE, 'utf8')
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${tersePort}`)
    .replaceAll('/etc/letsencrypt', folder)
    .replaceAll(/listen \[::\].*;/g, '')
    .replace('listen 80 ', `listen 127.0.0.1:${httpPort} `)
    .replace('listen 443 ', `listen 127.0.0.1:${httpsPort} `)
  const file = path.join(folder, 'nginx.conf')
  // One process, so that it runs as the user of the tests, who can read the keys.
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
    http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder};
    fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
    ${example} }`,
  )
  const stop = await startProgram(program, ['-c', file], folder, async () => {
    const connection = await RawConnection.open(httpsPort)
    connection.destroy()
  })
  return {
    httpsPort,
    authorityPem: authority.certificatePem,
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
