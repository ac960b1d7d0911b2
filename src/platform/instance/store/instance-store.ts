import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Pending } from '../../database/pending-writes.ts'
import type { Schema } from '../../database/schema.ts'

/** Facts about the whole instance, by name. */
export type InstanceStore = {
  find(name: string): Promise<string | undefined>
  /** Keeps `value` unless there is one already; returns what is kept. */
  keep(name: string, value: string): Promise<string>
  /**
   * Writes a row and takes it away again, with as many round trips as a unit of the API has: whether it can
   * be committed tells whether writes work. Waits for no other process that tries the same.
   */
  tryWrite(): Promise<void>
}

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
