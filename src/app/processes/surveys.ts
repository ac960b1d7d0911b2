import type { ToSupervisor } from './messages.ts'
import type { WorkerProcess } from './worker-process.ts'

/** One that does not answer in time, because it hangs or is about to end, is left out. */
const ANSWER_TIMEOUT_MS = 1_000

type OpenSurvey = {
  readonly texts: string[]
  missing: number
  readonly end: () => void
}

/** Takes a question of one process to all of them, and their answers back to it. */
export class Surveys {
  readonly #open = new Map<number, OpenSurvey>()
  #count = 0

  async run(asking: WorkerProcess, asked: readonly WorkerProcess[]): Promise<void> {
    this.#count += 1
    const survey = this.#count
    const ended = Promise.withResolvers<void>()
    const open = { texts: [], missing: asked.length, end: ended.resolve }
    this.#open.set(survey, open)
    for (const worker of asked) worker.send({ kind: 'question', survey })
    const timeout = setTimeout(ended.resolve, ANSWER_TIMEOUT_MS)
    await ended.promise
    clearTimeout(timeout)
    this.#open.delete(survey)
    asking.send({ kind: 'answers', texts: open.texts })
  }

  take({ survey, text }: Extract<ToSupervisor, { kind: 'answer' }>): void {
    const open = this.#open.get(survey)
    if (open === undefined) return
    open.texts.push(text)
    open.missing -= 1
    if (open.missing === 0) open.end()
  }
}
