import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { backoffMs } from '../../platform/work/async.ts'
import { type Address, ListeningSockets, SOCKETS_PER_PORT } from './listening-sockets.ts'
import { parseToSupervisor, type ToSupervisor, type ToWorker } from './messages.ts'

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

/** A process that ran for less than this counts as failed, and the next start backs off. */
const STABLE_MS = 1_000
const RESTART_BASE_MS = 100
const RESTART_CAP_MS = 5_000
/** Longer than a worker's own deadline for stopping. */
const KILL_AFTER_MS = 30_000

/** Keeps one worker process running, and restarts it with a backoff when it ends. */
class WorkerSlot {
  readonly #number: number
  readonly #launch: () => WorkerProcess
  readonly #onPause: () => void
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #running = new Set<WorkerProcess>()
  /** The newest process, which the slot keeps running; undefined while there is none. */
  #current: WorkerProcess | undefined
  #failures = 0
  #reviving: Promise<void> | undefined

  /**
   * @param options.onPause called when the slot will be empty for the time of a backoff
   */
  constructor(options: {
    number: number
    launch: () => WorkerProcess
    onPause: () => void
    log: Logger
  }) {
    this.#number = options.number
    this.#launch = options.launch
    this.#onPause = options.onPause
    this.#log = options.log
  }

  /** The processes that have not ended, including those that are starting or stopping. */
  get running(): Iterable<WorkerProcess> {
    return this.#running
  }

  /** The newest process that has become ready and has not ended; undefined while there is none. */
  get serving(): WorkerProcess | undefined {
    return [...this.#running].findLast(({ isReady }) => isReady)
  }

  /** Starts the first process. Returns its greeting, or undefined when it ended before it was ready. */
  async start(): Promise<string | undefined> {
    const worker = this.#begin()
    const greeting = await worker?.ready
    if (worker !== undefined && greeting !== undefined) this.#settle(worker)
    return greeting
  }

  /** Retries until a process starts, for a slot whose `start` failed. */
  revive(): void {
    this.#reviving ??= this.#revive().finally(() => {
      this.#reviving = undefined
    })
  }

  /**
   * Starts a new process and, once it is ready, stops the old one. Returns false when the new one did
   * not become ready: then the old one stays.
   */
  async replace(): Promise<boolean> {
    // A process that is being started already has the new settings.
    await this.#reviving
    const old = this.#current
    if (this.#stopping.signal.aborted) return false
    this.#current = undefined
    const next = this.#begin()
    if (next === undefined || (await next.ready) === undefined) {
      this.#current = old
      if (old === undefined || old.hasEnded) this.revive()
      return false
    }
    this.#settle(next)
    if (old !== undefined) await this.#end(old, 0)
    return true
  }

  /**
   * Stops the processes. Returns true when every one has exited with 0.
   *
   * @param delayMs for how long they keep serving while they report that the service is not ready
   */
  async stop(delayMs: number): Promise<boolean> {
    this.#stopping.abort()
    const endings = await Promise.all(
      [...this.#running].map((worker) => this.#end(worker, delayMs)),
    )
    await this.#reviving
    return endings.every(({ code }) => code === 0)
  }

  /** Returns undefined when the system cannot start a process, for example with too many open files. */
  #begin(): WorkerProcess | undefined {
    try {
      const worker = this.#launch()
      this.#running.add(worker)
      void worker.ended.then(() => this.#running.delete(worker))
      return worker
    } catch (error) {
      this.#log.error({ err: error, process: this.#number }, 'process start failed')
      return undefined
    }
  }

  #settle(worker: WorkerProcess): void {
    this.#current = worker
    this.#log.info({ process: this.#number, pid: worker.pid }, 'process started')
    void worker.ended.then((ending) => {
      if (worker !== this.#current || this.#stopping.signal.aborted) return
      this.#current = undefined
      const stable = performance.now() - worker.startedAtMs >= STABLE_MS
      this.#failures = stable ? 0 : this.#failures + 1
      this.#report(worker, ending)
      this.revive()
    })
  }

  async #revive(): Promise<void> {
    for (;;) {
      if (this.#failures > 0) await this.#wait()
      if (this.#stopping.signal.aborted) return
      const worker = this.#begin()
      if (worker !== undefined && (await worker.ready) !== undefined) {
        this.#settle(worker)
        return
      }
      if (this.#stopping.signal.aborted) return
      this.#failures += 1
      if (worker !== undefined) this.#report(worker, await worker.ended)
    }
  }

  async #wait(): Promise<void> {
    this.#onPause()
    const ms = backoffMs(this.#failures, RESTART_BASE_MS, RESTART_CAP_MS, Math.random())
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }

  #report(worker: WorkerProcess, ending: Ending): void {
    const facts = { process: this.#number, pid: worker.pid, ...ending, failures: this.#failures }
    this.#log.error(facts, 'process exited unexpectedly')
  }

  async #end(worker: WorkerProcess, delayMs: number): Promise<Ending> {
    worker.send({ kind: 'stop', delayMs })
    const late = setTimeout(() => {
      this.#log.error(
        { process: this.#number, pid: worker.pid },
        'process killed after stop timeout',
      )
      worker.kill()
    }, delayMs + KILL_AFTER_MS)
    const ending = await worker.ended
    clearTimeout(late)
    return ending
  }
}

type Ending = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** A worker process, seen from its supervisor. */
class WorkerProcess {
  readonly startedAtMs = performance.now()
  /** Settles with the greeting once the process answers requests; with undefined when it ends before. */
  readonly ready: Promise<string | undefined>
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  #isReady = false
  #hasEnded = false

  /**
   * @param options.program the module and its arguments
   * @param options.env its environment
   * @param options.listenOn descriptors of listening sockets, passed on in this order
   * @param options.onMessage receives the messages of the process, except `ready`
   */
  constructor(options: {
    program: readonly [module: string, ...args: string[]]
    env: NodeJS.ProcessEnv
    listenOn: readonly number[]
    onMessage: (message: ToSupervisor, from: WorkerProcess) => void
  }) {
    const [module, ...args] = options.program
    this.#child = fork(module, args, {
      env: options.env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...options.listenOn],
    })
    const ready = Promise.withResolvers<string | undefined>()
    const ended = Promise.withResolvers<Ending>()
    const end = (ending: Ending) => {
      this.#hasEnded = true
      ready.resolve(undefined)
      ended.resolve(ending)
    }
    this.#child.on('exit', (code, signal) => end({ code, signal }))
    // A process that could not be started emits 'error' and no 'exit'.
    this.#child.on('error', () => {
      if (this.#child.pid === undefined) end({ code: null, signal: null })
    })
    this.#child.on('message', (text) => {
      const message = parseToSupervisor(text)
      if (message === undefined) return
      if (message.kind !== 'ready') {
        options.onMessage(message, this)
        return
      }
      this.#isReady = true
      ready.resolve(message.greeting)
    })
    this.ready = ready.promise
    this.ended = ended.promise
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether it answers requests, or did before it began to stop. */
  get isReady(): boolean {
    return this.#isReady
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Sends a message; a process that is about to end may miss it. */
  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/** A process that does not answer in time, because it hangs or is about to end, is left out. */
const ANSWER_TIMEOUT_MS = 1_000

type OpenBroadcast = {
  readonly texts: string[]
  missing: number
  readonly end: () => void
}

/** Forwards the request of one process to all processes, and returns their responses to it. */
class Broadcasts {
  readonly #open = new Map<number, OpenBroadcast>()
  #count = 0

  async run(asking: WorkerProcess, asked: readonly WorkerProcess[]): Promise<void> {
    this.#count += 1
    const broadcast = this.#count
    const ended = Promise.withResolvers<void>()
    const open = { texts: [], missing: asked.length, end: ended.resolve }
    this.#open.set(broadcast, open)
    for (const worker of asked) worker.send({ kind: 'question', broadcast })
    const timeout = setTimeout(ended.resolve, ANSWER_TIMEOUT_MS)
    await ended.promise
    clearTimeout(timeout)
    this.#open.delete(broadcast)
    asking.send({ kind: 'answers', texts: open.texts })
  }

  take({ broadcast, text }: Extract<ToSupervisor, { kind: 'answer' }>): void {
    const open = this.#open.get(broadcast)
    if (open === undefined) return
    open.texts.push(text)
    open.missing -= 1
    if (open.missing === 0) open.end()
  }
}
