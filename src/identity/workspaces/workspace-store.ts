import type { Workspace } from './workspace.ts'

export type WorkspaceStore = {
  findByName(name: string): Promise<Workspace | undefined>
  /** False when the name is taken. */
  insert(workspace: Workspace): Promise<boolean>
  /** All of them, oldest first. */
  list(): Promise<readonly Workspace[]>
}
