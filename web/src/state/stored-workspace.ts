export const WORKSPACE_ITEM = 'terse-workspace'

/** The workspace that this tab showed last, or this browser. */
export function storedWorkspace(): string | undefined {
  try {
    return (
      sessionStorage.getItem(WORKSPACE_ITEM) ?? localStorage.getItem(WORKSPACE_ITEM) ?? undefined
    )
  } catch {
    return undefined
  }
}
