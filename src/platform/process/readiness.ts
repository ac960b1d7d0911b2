/** Whether a role can be played now. */
export type RoleCheck = () => boolean | Promise<boolean>

/**
 * What a node says of itself to those who send it requests. The rooms report to it: each role that the
 * node has brings its own check.
 */
export class Readiness {
  readonly #checks = new Map<string, RoleCheck>()
  readonly #onAsked: () => void
  #isStopping = false
  #askedAtMs = Number.NEGATIVE_INFINITY

  /** @param onAsked told when somebody who sends requests wants to know */
  constructor(onAsked: () => void = () => {}) {
    this.#onAsked = onAsked
  }

  /** @param check asked each time, so it must be cheap, and answer within a second or so */
  add(role: string, check: RoleCheck): void {
    this.#checks.set(role, check)
  }

  /** From now on no role can be played. */
  stop(): void {
    this.#isStopping = true
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** When somebody asked last, by `performance.now()`; never is minus infinity. */
  get askedAtMs(): number {
    return this.#askedAtMs
  }

  /** Says that somebody who sends requests wants to know. */
  noteAsked(): void {
    this.#askedAtMs = performance.now()
    this.#onAsked()
  }

  /** Every role of the node, and whether it can be played. */
  async look(): Promise<ReadonlyMap<string, boolean>> {
    const roles = [...this.#checks].map(
      async ([role, check]) => [role, !this.#isStopping && (await check())] as const,
    )
    return new Map(await Promise.all(roles))
  }
}
