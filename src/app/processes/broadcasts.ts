import type { ToSupervisor } from './messages.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A process that does not answer in time, because it hangs or is about to end, is left out. */
const ANSWER_TIMEOUT_MS = 1_000

type OpenBroadcast = {
  readonly texts: string[]
  missing: number
  readonly end: () => void
}

/** Forwards the request of one process to all processes, and returns their responses to it. */
export class Broadcasts {
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
