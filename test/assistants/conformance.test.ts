import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'

/**
 * The scenarios of @modelcontextprotocol/conformance for servers that need nothing but a server. All others call tools,
 * prompts and resources of a server that is made for them, such as `test_simple_text`.
 */
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'] as const

const SUITE = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)

describe('the MCP endpoint', () => {
  let service: Service
  let proxy: Server
  let url: string
  let folder: string
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-conformance-'))
    service = await startService(SQLITE)
    const token = await service.token('acme')
    proxy = proxyWith(token, service)
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    url = `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`
  })
  after(async () => {
    proxy.close()
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const scenario of SCENARIOS) {
    test(`passes ${scenario} of the conformance suite`, async () => {
      const args = [SUITE, 'server', '--url', url, '--scenario', scenario]
      // It writes what it has seen into the folder where it runs.
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
      assert.match(stdout, /Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/)
    })
  }
})

/** Sends requests on with a token: the suite sends none. */
function proxyWith(token: string, { port, baseUrl }: Service): Server {
  return createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { host = '', origin, 'content-type': type, accept } = request.headers
    // The suite sends its own port, where the service expects its own.
    const own = (text: string) =>
      text.replace(/^(https?:\/\/)?localhost(:\d+)?$/, `$1localhost:${port}`)
    const answer = await fetch(`${baseUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        host: own(host),
        ...(origin !== undefined && { origin: own(origin) }),
        ...(type !== undefined && { 'content-type': type }),
        ...(accept !== undefined && { accept }),
      },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
}
