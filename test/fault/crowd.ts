import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLongForm } from '../support/long-form.ts'
import { BROWSER } from '../support/visit.ts'
import { LinkHistory, type Outcome } from './link-history.ts'

/**
 * How soon a change on one node is visible on all others, normally and after a partition has
 * healed.
 */
const SEEN_WITHIN_MS = 1_000
const SEEN_AFTER_HEALING_MS = 5_000
/** What other processes may wait for a core. The long form runs on a machine of its own. */
const BUSY_MS = isLongForm ? 0 : 4_000
const LAG_INTERVAL_MS = 20

/** The address of a node on this machine. */
export type VisitedNode = { readonly port: number }

/** Results of the visits since the last call of `takeTally`. */
export type Tally = {
  requests: number
  /** Visits to links cached on every node that got anything but a redirect. */
  failed: number
  /** The longest visit of a link that does not change, and of one that does. */
  longestMs: number
  longestChangingMs: number
}

const NOTHING: Readonly<Tally> = { requests: 0, failed: 0, longestMs: 0, longestChangingMs: 0 }

/** Visitors that follow links of all nodes, and check the destinations. */
export class Crowd {
  readonly #nodes: readonly VisitedNode[]
  readonly #random: () => number
  readonly #agent = new Agent({ keepAlive: true })
  readonly #known: readonly string[]
  readonly #histories = new Map<string, LinkHistory>()
  /** Until when each node may not have read a change. */
  readonly #apartUntilMs = new Map<VisitedNode, number>()
  readonly #lagging: NodeJS.Timeout
  readonly #visitors: Promise<void>
  readonly faults: Error[] = []
  /** Redirects so far, by key. */
  readonly redirects = new Map<string, number>()
  #tally: Tally = { ...NOTHING }
  #lagMs = 0
  #stopping = false

  /** @param options.known keys of links that never change, and that all nodes have cached */
  constructor(options: {
    nodes: readonly VisitedNode[]
    known: readonly string[]
    visitors: number
    pauseMs: number
    random: () => number
  }) {
    this.#nodes = options.nodes
    this.#known = options.known
    this.#random = options.random
    let dueMs = performance.now() + LAG_INTERVAL_MS
    this.#lagging = setInterval(() => {
      // All nodes share this process: what blocks it also delays their reading of changes.
      this.#lagMs = Math.max(this.#lagMs, performance.now() - dueMs)
      dueMs = performance.now() + LAG_INTERVAL_MS
    }, LAG_INTERVAL_MS)
    const visitors = Array.from({ length: options.visitors }, (_, index) =>
      this.#visitOn(options.pauseMs, index % 2 === 0),
    )
    this.#visitors = Promise.all(visitors).then(() => {})
  }

  /** Checks a link's visits against its history from now on. */
  watch(key: string, outcome: Outcome): LinkHistory {
    const history = new LinkHistory(outcome)
    this.#histories.set(key, history)
    return history
  }

  /** Starts a partition: these nodes cannot read changes. The returned function ends it. */
  partition(nodes: readonly VisitedNode[]): () => void {
    for (const node of nodes) this.#apartUntilMs.set(node, Number.POSITIVE_INFINITY)
    return () => {
      const healedMs = performance.now()
      for (const node of nodes)
        this.#apartUntilMs.set(node, healedMs + SEEN_AFTER_HEALING_MS + BUSY_MS)
    }
  }

  /** Returns the results since the last call. */
  takeTally(): Tally {
    const tally = this.#tally
    this.#tally = { ...NOTHING }
    return tally
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#visitors
    clearInterval(this.#lagging)
    this.#agent.destroy()
  }

  async #visitOn(pauseMs: number, visitsKnown: boolean): Promise<void> {
    while (!this.#stopping) {
      const node = this.#pick(this.#nodes)
      const changing = [...this.#histories.keys()]
      const key = this.#pick(visitsKnown || changing.length === 0 ? this.#known : changing)
      await this.#visit(node, key)
      await sleep(this.#random() * pauseMs)
    }
  }

  async #visit(node: VisitedNode, key: string): Promise<void> {
    const startedMs = performance.now()
    const outcome = await this.#follow(node, key)
    const endedMs = performance.now()
    const history = this.#histories.get(key)
    const longest = history === undefined ? 'longestMs' : 'longestChangingMs'
    this.#tally.requests += 1
    this.#tally[longest] = Math.max(this.#tally[longest], endedMs - startedMs)
    if (typeof outcome === 'string') this.redirects.set(key, (this.redirects.get(key) ?? 0) + 1)
    if (history === undefined) {
      if (typeof outcome !== 'string') this.#fail(new Error(`${key} was answered ${outcome}`))
      return
    }
    const isApart = startedMs < (this.#apartUntilMs.get(node) ?? 0)
    // The answer of a node without a database, for a key that is not in its cache.
    if (isApart && outcome === 503) return
    const boundMs = isApart ? Number.POSITIVE_INFINITY : SEEN_WITHIN_MS + BUSY_MS + this.#lagMs
    try {
      history.check({ outcome, startedMs, endedMs, boundMs })
    } catch (error) {
      this.#fail(new Error(`${key} on node ${this.#nodes.indexOf(node)}`, { cause: error }))
    }
  }

  #fail(error: Error): void {
    this.#tally.failed += 1
    this.faults.push(error)
  }

  #follow(node: VisitedNode, key: string): Promise<Outcome> {
    return new Promise((resolve) => {
      const headers = { host: 'localhost', 'user-agent': BROWSER }
      const options = { host: '127.0.0.1', port: node.port, path: `/${key}`, headers }
      request({ ...options, agent: this.#agent }, (response) => {
        response.on('error', () => resolve(0))
        response.on('close', () => {
          if (!response.complete) resolve(0)
          else resolve(response.headers.location ?? response.statusCode ?? 0)
        })
        response.resume()
      })
        .on('error', () => resolve(0))
        .end()
    })
  }

  #pick<T>(among: readonly T[]): T {
    const picked = among[Math.floor(this.#random() * among.length)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }
}
