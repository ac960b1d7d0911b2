import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

type Target = { readonly host: string; readonly port: number }

/** A proxy in front of a server, which can fail as networks do. */
export type TcpProxy = {
  readonly port: number
  /** Resets every open connection, and every new one. */
  cut(): void
  /** Stops passing on bytes, on old connections and new ones, without closing them. */
  hold(): void
  /** Delays all bytes by so many milliseconds, in each direction. */
  slow(ms: number): void
  /**
   * Reports each round trip that a client begins, with what it has sent in it so far. Bytes that
   * are sent without waiting for the answer to earlier ones belong to the same round trip.
   */
  onRoundTrip(listener: (sent: string, connection: object) => void): void
  /** Ends all faults; bytes that were held are passed on. */
  mend(): void
  /** Stops passing on bytes on the open connections; new ones work. */
  freezeOpen(): void
  /** Resets every open connection; new ones go to another server. */
  leadTo(target: Target): void
  close(): Promise<void>
}

export async function startTcpProxy(first: Target): Promise<TcpProxy> {
  const open = new Set<readonly [Socket, Socket]>()
  let target = first
  let down = false
  let held: PromiseWithResolvers<void> | undefined
  let delayMs = 0
  let onRoundTrip: (sent: string, connection: object) => void = () => {}

  /** Passes on bytes with the delay of the network. */
  function pass(from: Socket, to: Socket, onPassed: () => void): void {
    let last: Promise<void> = Promise.resolve()
    const inTurn = (work: () => void) => {
      const dueMs = performance.now() + delayMs
      last = last.then(async () => {
        await held?.promise
        const waitMs = dueMs - performance.now()
        if (delayMs > 0 && waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
        work()
      })
    }
    from.on('data', (bytes) =>
      inTurn(() => {
        to.write(bytes)
        onPassed()
      }),
    )
    from.on('end', () => inTurn(() => to.end()))
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (down) {
      client.destroy()
      return
    }
    const upstream = connect({ ...target, allowHalfOpen: true })
    const pair = [client, upstream] as const
    open.add(pair)
    let isAnswered = true
    client.on('data', (bytes) => {
      if (isAnswered) onRoundTrip(bytes.toString('latin1'), client)
      isAnswered = false
    })
    pass(client, upstream, () => {})
    pass(upstream, client, () => {
      isAnswered = true
    })
    for (const [socket, other] of [pair, [upstream, client] as const]) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        // While nothing passes, the end of the server's connection does not either.
        void (held?.promise ?? Promise.resolve()).then(() => other.destroy())
        open.delete(pair)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function breakAll(): void {
    for (const pair of open) for (const socket of pair) socket.destroy()
  }

  function mend(): void {
    down = false
    delayMs = 0
    held?.resolve()
    held = undefined
  }

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      down = true
      breakAll()
    },
    hold() {
      held ??= Promise.withResolvers()
    },
    slow(ms) {
      delayMs = ms
    },
    onRoundTrip(listener) {
      onRoundTrip = listener
    },
    mend,
    freezeOpen() {
      for (const pair of open) for (const socket of pair) socket.removeAllListeners('data').pause()
    },
    leadTo(other) {
      target = other
      breakAll()
    },
    async close() {
      mend()
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
