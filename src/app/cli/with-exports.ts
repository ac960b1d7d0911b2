import type { WorkspaceExports } from '../../exports/workspace-exports.ts'
import type { Workspaces } from '../../identity/index.ts'
import { withInstance } from './with-instance.ts'

/** Opens the configured instance and the exports of its workspaces for one command. */
export function withExports<T>(
  work: (services: { workspaces: Workspaces; workspaceExports: WorkspaceExports }) => Promise<T>,
): Promise<T> {
  return withInstance(async (instance, { config }) => {
    const { openExports } = await import('../instance/exports.ts')
    const { WorkQueues } = await import('../../platform/work/work-queues.ts')
    const workspaceExports = openExports(config, instance, new WorkQueues())
    return work({ workspaces: instance.workspaces, workspaceExports })
  })
}
