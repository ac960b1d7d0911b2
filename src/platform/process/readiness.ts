/** Whether the node can serve a role now. */
export type RoleCheck = () => boolean | Promise<boolean>

/**
 * The readiness of a node for load balancers and monitoring. Each role of the node adds its own check.
 */
export class Readiness {
  readonly #checks = new Map<string, RoleCheck>()
  readonly #onProbe: () => void
  #isStopping = false
  #probedAtMs = Number.NEGATIVE_INFINITY

  /** @param onProbe called at each readiness probe */
  constructor(onProbe: () => void = () => {}) {
    this.#onProbe = onProbe
  }

  /** @param check runs at each probe, so it must be cheap and settle within about a second */
  add(role: string, check: RoleCheck): void {
    this.#checks.set(role, check)
  }

  /** Reports every role as unavailable from now on. */
  stop(): void {
    this.#isStopping = true
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** The time of the last probe, by `performance.now()`; minus infinity before the first. */
  get probedAtMs(): number {
    return this.#probedAtMs
  }

  /** Records a readiness probe. */
  noteProbe(): void {
    this.#probedAtMs = performance.now()
    this.#onProbe()
  }

  /** Returns each role of the node and whether it can be served. */
  async check(): Promise<ReadonlyMap<string, boolean>> {
    const roles = [...this.#checks].map(
      async ([role, check]) => [role, !this.#isStopping && (await check())] as const,
    )
    return new Map(await Promise.all(roles))
  }
}
