import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { runSteadyLoad } from '../../bench/load/steady-load.ts'

const STANDSTILL_MS = 300

test('runSteadyLoad counts a standstill against every request that was due during it', async () => {
  const heldResponses: ServerResponse[] = []
  const answer = (response: ServerResponse) =>
    response.writeHead(302, { Location: 'https://example.com/', 'Content-Length': '0' }).end()
  let requests = 0
  let isStalled = false
  const server = createServer((_request, response) => {
    requests += 1
    if (requests === 100) {
      isStalled = true
      setTimeout(() => {
        isStalled = false
        for (const one of heldResponses.splice(0)) answer(one)
      }, STANDSTILL_MS)
    }
    if (isStalled) heldResponses.push(response)
    else answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const result = await runSteadyLoad({
      port: (server.address() as AddressInfo).port,
      traffic: { kind: 'uniform', links: 1_000 },
      connections: 2,
      perSecond: 1_000,
      seconds: 1,
    })
    // Only two requests were in flight then; a load that waits for answers would report no more than those.
    assert.equal(result.answered, 1_000)
    assert.equal(requests, 1_000)
    assert.ok(result.p99Ms > STANDSTILL_MS * 0.8, `p99 ${result.p99Ms}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
