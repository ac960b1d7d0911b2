import type { Parsed } from '../../platform/failure.ts'

export type Workspace = {
  readonly id: string
  readonly name: string
  /** Microseconds since the epoch. */
  readonly created_at: number
}

/** Lower-case letters, digits and hyphens, 1 to 63 of them. */
export function parseWorkspaceName(text: string): Parsed<string> {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
    ? { value: text }
    : { fault: { code: 'invalid_workspace_name' } }
}
