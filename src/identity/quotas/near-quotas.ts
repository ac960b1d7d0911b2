const WORKSPACES_MAX = 10_000
/**
 * For how long a workspace counts as near at least. A unit enforces quotas several times, such as for each host that
 * it claims, and runs again when one turns out to be near: one that is not must not make it forget the other.
 */
const NEAR_MS_MIN = 60_000

/**
 * Which workspaces were near a quota when one was last enforced here: a hint, by which the next unit
 * locks and counts in one round trip. A wrong one costs time, never a quota.
 */
export class NearQuotas {
  /** When each was last near, in milliseconds; the longest ago first. */
  readonly #workspaces = new Map<string, number>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  has(workspaceId: string): boolean {
    return this.#workspaces.has(workspaceId)
  }

  note(workspaceId: string, isNear: boolean): void {
    if (isNear) {
      this.#workspaces.delete(workspaceId)
      const [oldest] = this.#workspaces.keys()
      if (this.#workspaces.size >= WORKSPACES_MAX && oldest !== undefined) {
        this.#workspaces.delete(oldest)
      }
      this.#workspaces.set(workspaceId, this.#nowMs())
      return
    }
    const nearAtMs = this.#workspaces.get(workspaceId)
    if (nearAtMs !== undefined && this.#nowMs() - nearAtMs > NEAR_MS_MIN) {
      this.#workspaces.delete(workspaceId)
    }
  }
}
