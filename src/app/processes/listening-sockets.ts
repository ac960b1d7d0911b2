import { lookup } from 'node:dns/promises'
import { BoundSocket } from 'node:net'

/**
 * Sockets on which a process accepts the connections of one port. libuv accepts one connection of each
 * in an iteration of the event loop (libuv/libuv#3696), so one socket alone would admit at most a
 * hundred new visitors a second while iterations take 10 ms.
 */
export const SOCKETS_PER_PORT = 8

export type Address = { readonly host: string | undefined; readonly port: number }

/**
 * The sockets on which the processes of one port accept, held by a process that accepts nothing
 * itself. A connection waits on its socket until a process takes it, so none is lost when one ends,
 * whichever way, and another comes in its place.
 *
 * Each place has a socket of its own and the kernel shares new connections out among them
 * (`SO_REUSEPORT`), where the kernel does that; else all have the same.
 */
export class ListeningSockets {
  readonly #address: Address
  readonly #sharedOut: boolean
  readonly #sockets = new Map<number, BoundSocket>()

  private constructor(address: Address, sharedOut: boolean) {
    this.#address = address
    this.#sharedOut = sharedOut
  }

  /**
   * @param address every address of the machine where no host is named
   * @throws where the port is in use
   */
  static async open(
    { host, port }: Address,
    sharedOut = process.platform === 'linux',
  ): Promise<ListeningSockets> {
    const sockets = new ListeningSockets({ host: await numeric(host), port }, sharedOut)
    // Another service that shares its port out would not refuse this one, which would take a part of
    // its visitors: a socket that shares nothing finds it.
    const probe = sockets.#bind(false)
    if (sharedOut) probe.close()
    else sockets.#sockets.set(0, probe)
    return sockets
  }

  /** The descriptor that the process in a place listens on. */
  descriptor(place: number): number {
    const index = this.#sharedOut ? place : 0
    const socket = this.#sockets.get(index) ?? this.#bind(this.#sharedOut)
    this.#sockets.set(index, socket)
    return socket.fd()
  }

  /** Sends new connections to the other places, until the descriptor is asked for again. */
  release(place: number): void {
    if (!this.#sharedOut) return
    this.#sockets.get(place)?.close()
    this.#sockets.delete(place)
  }

  /** Has no connection wait any more, once the processes do not listen either. */
  close(): void {
    for (const socket of this.#sockets.values()) socket.close()
    this.#sockets.clear()
  }

  #bind(reusePort: boolean): BoundSocket {
    return bind(this.#address, reusePort)
  }
}

/**
 * Takes ports for this process alone, before it is ready to listen. None is taken where one cannot be.
 *
 * @returns of each address the sockets on which to accept: several where the kernel shares connections
 *   out among them
 * @throws where a port is in use, or may not be opened
 */
export async function takePorts(
  addresses: readonly Address[],
  sharedOut = process.platform === 'linux',
): Promise<readonly (readonly BoundSocket[])[]> {
  const taken: BoundSocket[][] = []
  try {
    for (const { host, port } of addresses) {
      const address = { host: await numeric(host), port }
      const sockets = [bind(address)]
      taken.push(sockets)
      if (sharedOut) shareOut(sockets, address)
    }
    return taken
  } catch (error) {
    for (const socket of taken.flat()) socket.close()
    throw error
  }
}

/** Puts sockets that share the port in place of the one that has found it free. */
function shareOut(sockets: BoundSocket[], { host, port }: Address): void {
  const [probe] = sockets.splice(0)
  if (probe === undefined) return
  const chosen = { host, port: port === 0 ? probe.address().port : port }
  probe.close()
  while (sockets.length < SOCKETS_PER_PORT) sockets.push(bind(chosen, true))
}

async function numeric(host: string | undefined): Promise<string | undefined> {
  return host === undefined ? undefined : (await lookup(host)).address
}

/** Of every address of the machine, where no host is named. */
function bind({ host, port }: Address, reusePort = false): BoundSocket {
  if (host !== undefined) return new BoundSocket({ host, port, reusePort })
  try {
    return new BoundSocket({ host: '::', port, reusePort })
  } catch (error) {
    if (isInUse(error)) throw error
    return new BoundSocket({ host: '0.0.0.0', port, reusePort })
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
