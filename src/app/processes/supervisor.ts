import type { Logger } from 'pino'
import { Broadcasts } from './broadcasts.ts'
import { type Address, ListeningSockets, SOCKETS_PER_PORT } from './listening-sockets.ts'
import type { ToSupervisor } from './messages.ts'
import { WorkerProcess } from './worker-process.ts'
import { WorkerSlot } from './worker-slot.ts'

/** A balancer that has not probed for this long is taken to send no visitors here. */
const PROBE_INTERVAL_MAX_MS = 60_000

/**
 * Runs several processes on the same ports and does nothing else: it opens no database, accepts no
 * connection, and handles no request.
 */
export class Supervisor {
  readonly #slots: readonly WorkerSlot[]
  readonly #sockets: readonly ListeningSockets[]
  readonly #log: Logger
  readonly #stopDelayMs: number
  /** When a balancer last requested the readiness of the service. */
  #probedAtMs = Number.NEGATIVE_INFINITY
  /** The start, then every restart, one after the other. */
  #restarting: Promise<void> = Promise.resolve()
  #stopping = false

  private constructor(
    slots: readonly WorkerSlot[],
    sockets: readonly ListeningSockets[],
    { log, stopDelayMs }: { log: Logger; stopDelayMs: number },
  ) {
    this.#slots = slots
    this.#sockets = sockets
    this.#log = log
    this.#stopDelayMs = stopDelayMs
  }

  /**
   * @param options.stopDelayMs for how long a service behind a balancer reports that it is not ready before
   *   it stops
   * @param options.program the module of a worker and its arguments; its number is appended
   * @param options.env the environment of workers
   * @param options.addresses of the ports, in the order in which workers find their sockets
   * @throws where a port is in use
   */
  static async open(options: {
    count: number
    addresses: readonly Address[]
    stopDelayMs: number
    program: readonly [module: string, ...args: string[]]
    env: NodeJS.ProcessEnv
    log: Logger
  }): Promise<Supervisor> {
    const { count, program, env, log } = options
    const sockets = await openAll(options.addresses)
    const broadcasts = new Broadcasts()
    const onMessage = (message: ToSupervisor, from: WorkerProcess) => {
      if (message.kind === 'counts') {
        for (const slot of slots) {
          for (const worker of slot.running) if (worker !== from) worker.send(message)
        }
      } else if (message.kind === 'ask') {
        void broadcasts.run(
          from,
          slots.flatMap(({ serving }) => serving ?? []),
        )
      } else if (message.kind === 'answer') {
        broadcasts.take(message)
      } else if (message.kind === 'probed') {
        supervisor.#probedAtMs = performance.now()
      }
    }
    const slots = Array.from({ length: count }, (_, index) => {
      const number = index + 1
      return new WorkerSlot({
        number,
        launch: () =>
          new WorkerProcess({
            program: [...program, String(number)],
            env,
            // Several copies of one socket: the process accepts one connection of each in an iteration.
            listenOn: sockets.flatMap((socket) =>
              Array.from({ length: SOCKETS_PER_PORT }, () => socket.descriptor(index)),
            ),
            onMessage,
          }),
        onPause: () => {
          for (const socket of sockets) socket.release(index)
        },
        log,
      })
    })
    const supervisor = new Supervisor(slots, sockets, options)
    return supervisor
  }

  /**
   * Settles when every process has been started. A process that fails is retried later, except the first:
   * it has written its error by then and the others would fail alike, so the result is undefined.
   */
  start(): Promise<string | undefined> {
    const starting = this.#start()
    this.#restarting = starting.then(() => undefined)
    return starting
  }

  /**
   * Replaces the processes one after the other, each once its successor is ready. Ends at the first
   * successor that fails. Waits for a start or restart that is under way.
   */
  restart(): Promise<void> {
    this.#restarting = this.#restarting.then(() => this.#restart())
    return this.#restarting
  }

  /** Finishes the requests under way. Returns true when every process has exited with 0. */
  async stop(): Promise<boolean> {
    this.#stopping = true
    this.#closeSockets()
    const isBalanced = performance.now() - this.#probedAtMs < PROBE_INTERVAL_MAX_MS
    const delayMs = isBalanced ? this.#stopDelayMs : 0
    const inOrder = await Promise.all(this.#slots.map((slot) => slot.stop(delayMs)))
    await this.#restarting
    return inOrder.every(Boolean)
  }

  async #start(): Promise<string | undefined> {
    const [first, ...others] = this.#slots
    const greeting = await first?.start()
    if (greeting === undefined) {
      this.#stopping = true
      this.#closeSockets()
      return undefined
    }
    await Promise.all(
      others.map(async (slot) => {
        if ((await slot.start()) === undefined) slot.revive()
      }),
    )
    return greeting
  }

  #closeSockets(): void {
    for (const socket of this.#sockets) socket.close()
  }

  async #restart(): Promise<void> {
    if (this.#stopping) return
    this.#log.info('rolling restart started')
    for (const slot of this.#slots) {
      const replaced = await slot.replace()
      if (this.#stopping) return
      if (!replaced) {
        this.#log.error('rolling restart aborted')
        return
      }
    }
    this.#log.info('restarted')
  }
}

async function openAll(addresses: readonly Address[]): Promise<readonly ListeningSockets[]> {
  const opened: ListeningSockets[] = []
  try {
    for (const address of addresses) opened.push(await ListeningSockets.open(address))
    return opened
  } catch (error) {
    for (const sockets of opened) sockets.close()
    throw error
  }
}
