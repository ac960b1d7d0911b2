import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { ImportedLink } from '../import.ts'

/** What imports kept beside links, because links had no field for it. */
export type KeptValueStore = {
  /** Returns imported links after one with this number beside which something is kept, by their numbers. */
  listKept(
    workspaceId: string,
    beyond: number,
    limit: number,
  ): Promise<readonly (ImportedLink & { readonly rest: string })[]>
  /** Returns beside how many links of the workspace something is kept. */
  countKept(workspaceId: string): Promise<number>
  /** Replaces what is kept beside a link; returns false when that was changed since it was read. */
  replaceKept(imported: ImportedLink, rest: string | null): Promise<boolean>
}

export function keptValues(db: Kysely<Schema>): KeptValueStore {
  return {
    async listKept(workspaceId, beyond, limit) {
      const rows = await db
        .selectFrom('imported_links')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('link_seq', '>', beyond)
        .where('rest', 'is not', null)
        .orderBy('link_seq')
        .limit(limit)
        .execute()
      return rows.flatMap(({ rest, ...row }) => (rest === null ? [] : [{ ...row, rest }]))
    },

    async countKept(workspaceId) {
      const row = await db
        .selectFrom('imported_links')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('workspace_id', '=', workspaceId)
        .where('rest', 'is not', null)
        .executeTakeFirstOrThrow()
      return row.total
    },

    async replaceKept({ workspace_id, link_seq, rest: before }, rest) {
      const result = await db
        .updateTable('imported_links')
        .set({ rest })
        .where('workspace_id', '=', workspace_id)
        .where('link_seq', '=', link_seq)
        .where('rest', before === null ? 'is' : '=', before)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },
  }
}
