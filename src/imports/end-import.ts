import type { Store } from '../platform/database/store.ts'
import { type Import, ImportTakenOver } from './import.ts'
import { authorOfImport } from './import-actor.ts'
import { importEvent } from './import-events.ts'
import type { ImportStores } from './import-stores.ts'

/**
 * Writes the end of an import, and its event.
 *
 * @param fault why it failed; null when it succeeded
 * @throws {ImportTakenOver}
 */
export async function endImport(
  store: Store<ImportStores>,
  of: Import,
  { fault, nowMicros }: { readonly fault: string | null; readonly nowMicros: number },
): Promise<Import> {
  const changes = {
    status: fault === null ? ('succeeded' as const) : ('failed' as const),
    fault,
    ended_at: nowMicros,
    lease_until: null,
    next_at: null,
    ...(fault === null && { sealed_settings: null }),
  }
  const ended = { ...of, ...changes }
  await store.write(async (stores) => {
    const stored = await stores.imports.find(of.workspace_id, of.id)
    if (!(await stores.imports.update(of.id, of.fence, changes))) throw new ImportTakenOver()
    // The database may have gone down after it had stored this.
    if (of.is_dry_run === 1 || stored?.status === changes.status) return
    const type = fault === null ? 'import.completed' : 'import.failed'
    await stores.events.append(authorOfImport(of), importEvent(type, ended), nowMicros)
  })
  return ended
}
