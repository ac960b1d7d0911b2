import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Pending } from '../../database/pending-writes.ts'
import type { Schema } from '../../database/schema.ts'
import type { InstanceStore } from '../instance-store.ts'

export function instanceStore(db: Kysely<Schema>, pending: Pending): InstanceStore {
  async function find(name: string): Promise<string | undefined> {
    const row = await db
      .selectFrom('instance')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.value
  }
  return {
    find,
    async keep(name, value) {
      await db
        .insertInto('instance')
        .values({ name, value })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await find(name)) ?? value
    },
    async tryWrite() {
      const name = `write-probe ${randomUUID()}`
      await find(name)
      await db.insertInto('instance').values({ name, value: '' }).execute()
      await pending.add(db.deleteFrom('instance').where('name', '=', name).compile())
    },
  }
}
