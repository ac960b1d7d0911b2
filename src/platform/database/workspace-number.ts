/**
 * Returns a number made of a workspace's identifier, for keys that would be long with the identifier itself. Two
 * workspaces may share a number, so whoever reads by it compares the identifier too.
 */
export function workspaceNumber(workspaceId: string): number {
  return Number.parseInt(workspaceId.slice(-8), 16)
}
