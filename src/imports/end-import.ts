import type { ClickSpoolStore } from '../clicks/store/index.ts'
import { type Actor, findActor, type MakerStores } from '../identity/index.ts'
import type { EventAuthor } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import { type Import, ImportFault, ImportTakenOver, importEvent } from './import.ts'
import type { ImportRowStore, ImportStore, ImportStores } from './store/import-store.ts'

const NO_LONGER =
  'The person or token that started this import may no longer create links in this workspace. Start it again as one that may: it continues where it stopped.'

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

const ROWS_PER_WRITE = 1_000
const IMPORTS_PER_PAGE = 100
const DAY_MICROS = 24 * 60 * 60 * 1_000_000
/** Reports are kept so long after the end of an import. */
const REPORT_DAYS = 90
/** How long a failed import can be started again: its token is kept until then. */
const SECRET_DAYS = 7

type RemovalStores = {
  readonly imports: ImportStore
  readonly importRows: ImportRowStore
  readonly clickSpools: ClickSpoolStore
}

/** Removes an import with its report, and its clicks that are not counted. Its links stay. */
export async function removeImport(store: Store<RemovalStores>, id: string): Promise<void> {
  while (await store.write((stores) => stores.importRows.delete(id, ROWS_PER_WRITE))) {
    // Other writers go between.
  }
  while (await store.write((stores) => stores.importRows.deleteDryRun(id, ROWS_PER_WRITE)));
  while (await store.write((stores) => stores.clickSpools.remove(id)));
  await store.write((stores) => stores.imports.delete(id))
}

/** Ends and removes all imports of a deleted workspace. */
export async function removeImports(
  store: Store<RemovalStores>,
  workspaceId: string,
  isCancelled: () => boolean,
): Promise<void> {
  while (!isCancelled()) {
    const found = await store.read.imports.list(workspaceId, { limit: IMPORTS_PER_PAGE })
    if (found.length === 0) return
    for (const { id, fence } of found) {
      if (isCancelled()) return
      // A process that runs it writes nothing more.
      const ended = { status: 'cancelled', fence: fence + 1, next_at: null } as const
      await store.write((stores) => stores.imports.update(id, fence, ended))
      await removeImport(store, id)
    }
  }
}

/** Removes reports that are old enough, and the tokens of imports that failed some days ago. */
export async function trimImports(store: Store<RemovalStores>, nowMicros: number): Promise<void> {
  const old = nowMicros - REPORT_DAYS * DAY_MICROS
  for (const { id } of await store.read.imports.findEndedBefore(old, IMPORTS_PER_PAGE)) {
    await removeImport(store, id)
  }
  const failed = nowMicros - SECRET_DAYS * DAY_MICROS
  for (const { id, fence } of await store.read.imports.findSecretsBefore(
    failed,
    IMPORTS_PER_PAGE,
  )) {
    await store.write((stores) => stores.imports.update(id, fence, { sealed_settings: null }))
  }
}
