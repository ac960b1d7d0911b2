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

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text)
}
