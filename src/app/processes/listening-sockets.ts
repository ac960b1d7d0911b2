import { lookup } from 'node:dns/promises'
import { BoundSocket } from 'node:net'
import type { Config } from '../config/config.ts'

/**
 * How many sockets a process has for one port. libuv accepts one connection of each socket in an
 * iteration of the event loop (libuv/libuv#3696): while iterations take 10 ms, a single socket would
 * accept at most a hundred connections a second.
 */
export const SOCKETS_PER_PORT = 8

export type Address = { readonly host: string | undefined; readonly port: number }

/** What a port serves: plain HTTP, HTTPS, or the internal requests of the operator's own programs. */
export type ListeningUse = 'plain' | 'https' | 'internal'

export type ListeningPlace = {
  readonly use: ListeningUse
  /** Undefined for every address of the machine. */
  readonly host: string | undefined
  readonly port: number
}

/** Returns where the service listens, always in the same order. */
export function listeningPlaces(
  config: Pick<Config, 'host' | 'port' | 'tls' | 'internalListen'>,
): readonly ListeningPlace[] {
  const { host, port, tls, internalListen } = config
  return [
    { use: 'plain', host, port },
    ...(tls === undefined ? [] : [{ use: 'https' as const, host, port: tls.port }]),
    ...(internalListen === undefined ? [] : [{ use: 'internal' as const, ...internalListen }]),
  ]
}

/**
 * The sockets of one port on which worker processes accept, held open by their supervisor, which accepts
 * nothing itself. A connection waits in its socket's queue until a process accepts it, so no connection
 * is lost when a worker ends, in any way, and a new one takes over its slot.
 *
 * On Linux each slot has its own socket and the kernel distributes new connections among them
 * (`SO_REUSEPORT`); elsewhere all slots share one.
 */
export class ListeningSockets {
  readonly #address: Address
  readonly #reusesPort: boolean
  readonly #sockets = new Map<number, BoundSocket>()

  private constructor(address: Address, reusesPort: boolean) {
    this.#address = address
    this.#reusesPort = reusesPort
  }

  /**
   * @param address every address of the machine where no host is named
   * @throws where the port is in use
   */
  static async open(
    { host, port }: Address,
    reusesPort = process.platform === 'linux',
  ): Promise<ListeningSockets> {
    const sockets = new ListeningSockets({ host: await numeric(host), port }, reusesPort)
    // Two services that both set SO_REUSEPORT would share a port without an error, and each would get a
    // part of the other's visitors. A socket without that option fails when the port is in use.
    const probe = sockets.#bind(false)
    if (reusesPort) probe.close()
    else sockets.#sockets.set(0, probe)
    return sockets
  }

  /** Returns the descriptor on which the process of a slot listens. */
  descriptor(slot: number): number {
    const index = this.#reusesPort ? slot : 0
    const socket = this.#sockets.get(index) ?? this.#bind(this.#reusesPort)
    this.#sockets.set(index, socket)
    return socket.fd()
  }

  /** Directs new connections to the other slots, until `descriptor` is called again. */
  release(slot: number): void {
    if (!this.#reusesPort) return
    this.#sockets.get(slot)?.close()
    this.#sockets.delete(slot)
  }

  /** Closes the sockets: connections are refused once the processes have stopped listening too. */
  close(): void {
    for (const socket of this.#sockets.values()) socket.close()
    this.#sockets.clear()
  }

  #bind(reusePort: boolean): BoundSocket {
    return bind(this.#address, reusePort)
  }
}

/**
 * Binds the ports of a single process before it is ready to listen. Binds all of them or none.
 *
 * @returns for each address the sockets on which to accept: several where the kernel distributes
 *   connections among them
 * @throws where a port is in use, or may not be opened
 */
export async function takePorts(
  addresses: readonly Address[],
  reusesPort = process.platform === 'linux',
): Promise<readonly (readonly BoundSocket[])[]> {
  const taken: BoundSocket[][] = []
  try {
    for (const { host, port } of addresses) {
      const address = { host: await numeric(host), port }
      const sockets = [bind(address)]
      taken.push(sockets)
      if (reusesPort) multiply(sockets, address)
    }
    return taken
  } catch (error) {
    for (const socket of taken.flat()) socket.close()
    throw error
  }
}

/** Replaces the socket that found the port free by several that share it. */
function multiply(sockets: BoundSocket[], { host, port }: Address): void {
  const [probe] = sockets.splice(0)
  if (probe === undefined) return
  const bound = { host, port: port === 0 ? probe.address().port : port }
  probe.close()
  while (sockets.length < SOCKETS_PER_PORT) sockets.push(bind(bound, true))
}

async function numeric(host: string | undefined): Promise<string | undefined> {
  return host === undefined ? undefined : (await lookup(host)).address
}

/** Binds every address of the machine when no host is given. */
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
