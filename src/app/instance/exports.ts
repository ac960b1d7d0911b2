import { WORKSPACE_EXPORT_QUEUE, WorkspaceExports } from '../../exports/workspace-exports.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { cursors } from '../../platform/http/api/cursor.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { WorkQueues } from '../../platform/work/work-queues.ts'
import type { Config } from '../config/read-config.ts'
import { serviceNameOf } from './domains.ts'
import type { Instance } from './instance.ts'

/** Builds the exports of workspaces, for the API and the command line. Cursors of one work in the other. */
export function openExports(
  config: Config,
  { store, clock, instanceKey, workspaces }: Instance,
  queues: WorkQueues,
): WorkspaceExports {
  return new WorkspaceExports({
    ...{ store, clock, workspaces, baseUrl: config.baseUrl },
    clickRetentionDays: config.clickRetentionDays,
    serviceHost: serviceNameOf(config).host,
    cursors: cursors(deriveKey(instanceKey, 'list-cursor'), systemRandom),
    exports: queues.open(WORKSPACE_EXPORT_QUEUE),
  })
}
