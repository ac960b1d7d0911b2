import { type Actor, findActor, type MakerStores } from '../identity/index.ts'
import type { EventAuthor } from '../platform/events/event-writer.ts'
import { type Import, ImportFault } from './import.ts'

const NO_LONGER =
  'Whoever started this import may no longer create links in this workspace. It goes on where it was when somebody who may starts it again.'

/** The one who started an import, in events about it. */
export function authorOfImport(of: Import): EventAuthor {
  const { actor_kind: kind, actor_id: id, actor_name: name, workspace_id: workspaceId } = of
  return { kind, id, name, workspaceId, requestId: null }
}

/**
 * Returns the one who started an import, with the permissions that they have now.
 *
 * @param at.isUse within the transaction that writes for them
 * @throws {ImportFault} when they may no longer create links
 */
export async function requireImporter(
  stores: MakerStores,
  of: Import,
  at: { readonly nowMicros: number; readonly isUse: boolean },
): Promise<Actor> {
  const actor = await findActor(stores, authorOfImport(of), at)
  if (!actor?.permissions.has('links.edit')) throw new ImportFault(NO_LONGER)
  return actor
}
