import { type ChildProcess, fork } from 'node:child_process'
import { parseToSupervisor, type ToSupervisor, type ToWorker } from './messages.ts'

export type Ending = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** A worker process, seen from its supervisor. */
export class WorkerProcess {
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
