const WORKSPACES_MAX = 10_000

/**
 * Which workspaces were near a quota when one was last enforced here: a hint, by which the next unit
 * locks and counts in one round trip. A wrong one costs time, never a quota.
 */
export class NearQuotas {
  readonly #workspaces = new Set<string>()

  has(workspaceId: string): boolean {
    return this.#workspaces.has(workspaceId)
  }

  note(workspaceId: string, isNear: boolean): void {
    if (!isNear) this.#workspaces.delete(workspaceId)
    else if (this.#workspaces.size < WORKSPACES_MAX) this.#workspaces.add(workspaceId)
  }
}
