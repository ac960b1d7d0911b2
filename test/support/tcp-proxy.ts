import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can fail as networks do. */
export type TcpProxy = {
  readonly port: number
  /** Breaks every open connection, and every one that comes. */
  cut(): void
  /** Lets new connections through again. */
  mend(): void
  /** From now on nothing passes on the connections that are open; new ones work. */
  freezeOpen(): void
  close(): Promise<void>
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const open = new Set<readonly [Socket, Socket]>()
  let down = false
  const server = createServer((client) => {
    if (down) {
      client.destroy()
      return
    }
    const upstream = connect(target)
    const pair = [client, upstream] as const
    open.add(pair)
    for (const [socket, other] of [pair, [upstream, client] as const]) {
      socket.setNoDelay(true)
      socket.pipe(other)
      socket.on('error', () => {})
      socket.on('close', () => {
        other.destroy()
        open.delete(pair)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function breakAll(): void {
    for (const pair of open) for (const socket of pair) socket.destroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      down = true
      breakAll()
    },
    mend() {
      down = false
    },
    freezeOpen() {
      for (const pair of open) for (const socket of pair) socket.unpipe().pause()
    },
    async close() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
