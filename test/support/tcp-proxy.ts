import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

type Target = { readonly host: string; readonly port: number }

/** A way to a server that can fail as networks do. */
export type TcpProxy = {
  readonly port: number
  /** Breaks every open connection, and every one that comes. */
  cut(): void
  /** Nothing passes any more, on old connections and new ones, and nobody is told. */
  hold(): void
  /** Everything takes so many milliseconds longer, each way. */
  slow(ms: number): void
  /**
   * Tells of each round trip that a client begins, with what it sends in it as far as that has arrived.
   * What is sent without waiting for an answer to what was sent before is of the same round trip.
   */
  onRoundTrip(listener: (sent: string, connection: object) => void): void
  /** All is well again; what was held is passed on. */
  mend(): void
  /** From now on nothing passes on the connections that are open; new ones work. */
  freezeOpen(): void
  /** Breaks every open connection; new ones lead to another server. */
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

  /** Passes on what comes, in order, as late as the network is slow. */
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
        // A server that is gone is not heard of while nothing passes.
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
