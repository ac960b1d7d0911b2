import { UTM_FIELDS, type UtmField } from '@terse/contract/link-fields'
import type { Kysely } from 'kysely'
import type { Page } from '../../platform/http/api/pagination.ts'
import type { Managed } from '../../storage/managed.ts'
import type { Schema } from '../../storage/schema.ts'
import { StaleRow } from '../../storage/store.ts'
import { foldKey } from '../key.ts'

/** UTM values that people choose for links. */
export type UtmTemplate = { readonly [F in UtmField]: string | null } & Managed & {
    readonly id: string
    readonly workspace_id: string
    readonly name: string
    /** Microseconds since the epoch. */
    readonly created_at: number
    /** Microseconds since the epoch; rises with every update. */
    readonly updated_at: number
  }

export type UtmTemplateStore = {
  /** In the order of their names, whatever their letter case. */
  page(workspaceId: string, offset: number, limit: number): Promise<Page<UtmTemplate>>
  findById(workspaceId: string, id: string): Promise<UtmTemplate | undefined>
  /** The template with this name in any letter case. */
  findByName(workspaceId: string, name: string): Promise<UtmTemplate | undefined>
  count(workspaceId: string): Promise<number>
  /** Makes the transaction run again when another one has inserted the name first. */
  insert(template: UtmTemplate): Promise<void>
  /** @throws {StaleRow} when it was changed since it was read as `before` */
  update(template: UtmTemplate, before: UtmTemplate): Promise<void>
  /** Returns whether there was one. */
  delete(workspaceId: string, id: string): Promise<boolean>
}

const COLUMNS = [
  ...(['id', 'workspace_id', 'name', ...UTM_FIELDS] as const),
  ...(['managed_by', 'managed_at', 'created_at', 'updated_at'] as const),
] as const

export function utmTemplateStore(db: Kysely<Schema>): UtmTemplateStore {
  const select = (workspaceId: string) =>
    db.selectFrom('utm_templates').select(COLUMNS).where('workspace_id', '=', workspaceId)

  async function count(workspaceId: string): Promise<number> {
    const row = await db
      .selectFrom('utm_templates')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow()
    return Number(row.count)
  }

  return {
    async page(workspaceId, offset, limit) {
      const sorted = select(workspaceId).orderBy('name_folded').limit(limit).offset(offset)
      return { items: await sorted.execute(), total: await count(workspaceId) }
    },

    findById: (workspaceId, id) => select(workspaceId).where('id', '=', id).executeTakeFirst(),

    findByName: (workspaceId, name) =>
      select(workspaceId).where('name_folded', '=', foldKey(name)).executeTakeFirst(),

    count,

    async insert(template) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('utm_templates')
        .values({ ...template, name_folded: foldKey(template.name) })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'name_folded']).doNothing())
        .executeTakeFirstOrThrow()
      if (numInsertedOrUpdatedRows === 0n) throw new StaleRow()
    },

    async update({ id, workspace_id, created_at, ...values }, before) {
      const { numUpdatedRows } = await db
        .updateTable('utm_templates')
        .set({ ...values, name_folded: foldKey(values.name) })
        .where('workspace_id', '=', before.workspace_id)
        .where('id', '=', before.id)
        .where('updated_at', '=', before.updated_at)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new StaleRow()
    },

    async delete(workspaceId, id) {
      const { numDeletedRows } = await db
        .deleteFrom('utm_templates')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
  }
}
