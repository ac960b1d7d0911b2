import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Below the ports that systems use for outgoing connections (Linux from 32768 on), which open at
 * any time.
 */
const FIRST = 10_000
const PORTS_PER_RANGE = 1_000
const RANGES = 22

/** Test files that run at the same time use different ranges. */
const range = Number(process.env.NODE_TEST_WORKER_ID ?? 0) % RANGES
let last = randomInt(PORTS_PER_RANGE)

/** Returns a port on which nothing listens, and that this process has not returned lately. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_PER_RANGE; tries += 1) {
    last = (last + 1) % PORTS_PER_RANGE
    const port = FIRST + range * PORTS_PER_RANGE + last
    if ((await claim(port)) && (await isFree(port))) return port
  }
  throw new Error('no port is free')
}

/** Claims of the ports that were returned: other test processes see them until this one ends. */
const claims: Server[] = []

/**
 * Claims a port among all test processes of the machine, by a socket with its name in Linux’s abstract namespace.
 * A port that looks free may be about to be used by what another process is starting.
 */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const server = createServer().listen(`\0terse-test-port-${port}`).unref()
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  claims.push(server)
  return true
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
