/**
 * Returns a number derived from a workspace's identifier, for shorter keys. Two workspaces may have the same number, so
 * a reader must compare the identifier too.
 */
export function workspaceNumber(workspaceId: string): number {
  return Number.parseInt(workspaceId.slice(-8), 16)
}
