import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 2
const DEADLINE_MS = 30_000

/** Settles when a program listens on the port. */
export async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const socket = connect({ port, host: '127.0.0.1' })
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
    } finally {
      socket.destroy()
    }
    await sleep(RETRY_MS)
  }
}
