import type { ClickSpoolStore } from '../clicks/store/index.ts'
import type { Store } from '../platform/database/store.ts'
import type { ImportRowStore } from './store/import-row-store.ts'
import type { ImportStore } from './store/import-store.ts'

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
