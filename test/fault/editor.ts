import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Api } from '../support/api.ts'
import type { LinkHistory } from './link-history.ts'

const RETRY_MS = 50

/** Changes one link repeatedly, through any node that answers, and records when. */
export class Editor {
  readonly #apis: readonly Api[]
  readonly #key: string
  readonly #history: LinkHistory
  readonly #random: () => number
  readonly #editing: Promise<void>
  #id: string
  #version = 0
  #stopping = false
  edits = 0
  /** The slowest answer of the API. */
  longestMs = 0

  constructor(options: {
    apis: readonly Api[]
    key: string
    id: string
    history: LinkHistory
    pauseMs: number
    random: () => number
  }) {
    this.#apis = options.apis
    this.#key = options.key
    this.#id = options.id
    this.#history = options.history
    this.#random = options.random
    this.#editing = this.#editOn(options.pauseMs)
    this.#editing.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#editing
  }

  async #editOn(pauseMs: number): Promise<void> {
    while (!this.#stopping) {
      if (this.#random() < 0.6) await this.#lead()
      else await this.#replace()
      this.edits += 1
      await sleep(this.#random() * pauseMs)
    }
  }

  async #lead(): Promise<void> {
    const url = this.#nextUrl()
    const settle = this.#history.begin(url)
    await this.#ask((api) => api.patch(`/links/${this.#id}`, { url }), [200])
    settle()
  }

  async #replace(): Promise<void> {
    const settleDeleted = this.#history.begin(404)
    await this.#ask((api) => api.delete(`/links/${this.#id}`), [200, 404])
    settleDeleted()
    const url = this.#nextUrl()
    const settleMade = this.#history.begin(url)
    const link = { domain: 'localhost', key: this.#key, url }
    const once = { 'idempotency-key': randomUUID() }
    const made = await this.#ask((api) => api.post('/links', link, once), [201])
    this.#id = made.body.id
    settleMade()
  }

  #nextUrl(): string {
    this.#version += 1
    return `https://example.com/${this.#key}/${this.#version}`
  }

  /** Asks nodes until one succeeds. The others must answer 503 within the time limit. */
  async #ask(send: (api: Api) => Promise<Answer>, done: readonly number[]): Promise<Answer> {
    for (;;) {
      const api = this.#apis[Math.floor(this.#random() * this.#apis.length)]
      if (api === undefined) throw new Error('there is no node')
      const startedMs = performance.now()
      const answer = await send(api)
      this.longestMs = Math.max(this.longestMs, performance.now() - startedMs)
      if (done.includes(answer.status)) return answer
      if (answer.status !== 503) {
        throw new Error(`${this.#key}: ${answer.status} ${JSON.stringify(answer.body)}`)
      }
      await sleep(RETRY_MS)
    }
  }
}
