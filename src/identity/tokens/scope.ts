/** What a token may do. */
export const SCOPES = [
  'links:read',
  'links:write',
  'domains:read',
  'domains:write',
  'clicks:read',
  'workspace:admin',
] as const

export type Scope = (typeof SCOPES)[number]

/**
 * The scopes of a token for which none are requested: to read and write, but not to administer the
 * workspace.
 */
export const USUAL_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'workspace:admin')

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text)
}
