import { USUAL_LABEL_PARAMETER } from '@terse/contract/link-fields'
import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/** How visits to a workspace's links get labels, and which are always counted by themselves. */
export type LabelSettings = {
  /** The parameter of the query that has the label; null for no labels. */
  readonly parameter: string | null
  readonly labels: readonly string[]
}

/** Of a new workspace. */
export const NEW_LABELS: LabelSettings = Object.freeze({
  parameter: USUAL_LABEL_PARAMETER,
  labels: [],
})

export type LabelStore = {
  find(workspaceId: string): Promise<LabelSettings>
  set(workspaceId: string, settings: LabelSettings): Promise<void>
}

export function labelStore(db: Kysely<Schema>): LabelStore {
  return {
    async find(workspaceId) {
      const row = await db
        .selectFrom('label_settings')
        .select(['parameter', 'labels'])
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst()
      if (row === undefined) return NEW_LABELS
      return { parameter: row.parameter, labels: JSON.parse(row.labels) }
    },
    async set(workspaceId, { parameter, labels }) {
      const values = { parameter, labels: JSON.stringify(labels) }
      await db
        .insertInto('label_settings')
        .values({ workspace_id: workspaceId, ...values })
        .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(values))
        .execute()
    },
  }
}
